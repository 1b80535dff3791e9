import type { IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import type { Writable } from 'node:stream';
import type { FastifyBaseLogger, FastifyInstance, FastifyServerOptions } from 'fastify';
import { codeOf, reasonOf } from '../errors.ts';
import { escapedJson } from '../text.ts';

export interface Caller {
  readonly remoteAddress?: string;
  /** A known access key. An unknown value may be a secret that the caller sent in the wrong field. */
  readonly accessKey?: string;
  readonly client?: string;
  readonly viewer?: string;
  readonly record?: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    describe(caller: Caller): void;
  }
}

const UNKNOWN = 'unknown';

export function createRequestLog() {
  const callers = new WeakMap<IncomingMessage, Caller>();
  const childLoggerFactory: FastifyServerOptions['childLoggerFactory'] = (logger, bindings, options, raw) => {
    const began = performance.now();
    const { remoteAddress } = addressOf(raw.socket);
    const log = (fields: object) => {
      const duration = Math.round(performance.now() - began);
      return { remoteAddress, accessKey: UNKNOWN, ...fields, ...callers.get(raw), duration };
    };
    return logger.child(bindings, { ...options, formatters: { log } }) as FastifyBaseLogger;
  };
  const decorate = (app: FastifyInstance) => {
    app.decorateRequest('describe', function describe(caller) {
      callers.set(this.raw, { ...callers.get(this.raw), ...caller });
    });
    app.addHook('onRequest', async (request) => {
      // A client can put any text into X-Forwarded-For.
      if (isIP(request.ip) !== 0) request.describe({ remoteAddress: request.ip });
    });
  };
  return { childLoggerFactory, decorate };
}

/** Returns the log field `err`. Other members of a database error may quote its input. */
export function errorFields(thrown: unknown) {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  return { type: error.name, code: codeOf(error), message: withCauses(error), stack: error.stack ?? '' };
}

function withCauses(error: Error): string {
  const message = reasonOf(error);
  const cause = error.cause instanceof Error ? withCauses(error.cause) : '';
  return message.includes(cause) ? message : `${message}: ${cause}`;
}

export function addressOf(socket: Pick<Socket, 'remoteAddress'>): { readonly remoteAddress: string | undefined } {
  return { remoteAddress: socket.remoteAddress };
}

/** Limit on the characters of waiting log lines. */
const MOST_WAITING = 4 * 1024 * 1024;

/**
 * Drops log lines while too many wait for a slow reader, and later logs the number of dropped lines. Without the limit,
 * waiting lines would fill the memory.
 */
export function boundedLog(stream: Pick<Writable, 'write' | 'writableLength'>): { write(line: string): void } {
  let dropped = 0;
  return {
    write(line) {
      if (stream.writableLength > MOST_WAITING) {
        dropped += 1;
        return;
      }
      const notice = JSON.stringify({ level: 40, outcome: 'log-dropped', lines: dropped });
      if (dropped > 0) stream.write(`${notice}\n`);
      dropped = 0;
      stream.write(escapedJson(line));
    },
  };
}
