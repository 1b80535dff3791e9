/** The log: fields for lines about a request, and a limit on lines that are waiting for a slow reader. */

import type { IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import type { Writable } from 'node:stream';
import type { FastifyBaseLogger, FastifyInstance, FastifyServerOptions } from 'fastify';
import { reasonOf } from '../errors.ts';
import { escapedJson } from '../text.ts';

export interface Caller {
  /** Address of the client, even if it connects through a configured proxy. */
  readonly remoteAddress?: string;
  /** Only a known access key is logged: any other value may be a secret that was sent in the wrong field. */
  readonly accessKey?: string;
  /** Name of the client as in `client list`, or its access key if it has no name. */
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
      // A client can put any text into X-Forwarded-For. If the header contains no address, the address of the proxy is
      // logged.
      if (isIP(request.ip) !== 0) request.describe({ remoteAddress: request.ip });
    });
  };
  return { childLoggerFactory, decorate };
}

/** Builds the log field `err` from a few members of the error, because a database error may quote its input. */
export function errorFields(thrown: unknown) {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const code = 'code' in error ? error.code : undefined;
  return { type: error.name, code, message: withCauses(error), stack: error.stack ?? '' };
}

function withCauses(error: Error): string {
  const message = reasonOf(error);
  const cause = error.cause instanceof Error ? withCauses(error.cause) : '';
  return message.includes(cause) ? message : `${message}: ${cause}`;
}

export function addressOf(socket: Pick<Socket, 'remoteAddress'>): { readonly remoteAddress: string | undefined } {
  return { remoteAddress: socket.remoteAddress };
}

/** Limit on the characters of waiting lines: about ten thousand lines. */
const MOST_WAITING = 4 * 1024 * 1024;

/**
 * Drops lines while too much of the log is waiting for its reader, and later reports how many were dropped. Without the
 * limit, lines that cannot be written to a full pipe would fill the memory.
 */
export function boundedLog(stream: Pick<Writable, 'write' | 'writableLength'>): { write(line: string): void } {
  let dropped = 0;
  return {
    write(line) {
      if (stream.writableLength > MOST_WAITING) {
        dropped += 1;
        return;
      }
      if (dropped > 0) stream.write(`${JSON.stringify({ level: 40, outcome: 'log-dropped', lines: dropped })}\n`);
      dropped = 0;
      stream.write(escapedJson(line));
    },
  };
}
