/** The log: the fields of each line about a request, and a limit for what waits for a slow reader. */

import type { IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import type { Writable } from 'node:stream';
import type { FastifyBaseLogger, FastifyInstance, FastifyServerOptions } from 'fastify';
import { reasonOf } from '../errors.ts';
import { escapedJson } from '../text.ts';

export interface Caller {
  /** Address of the client, also behind a proxy that the configuration names. */
  readonly remoteAddress?: string;
  /** Only a known one: any other value may be a secret in the wrong field. */
  readonly accessKey?: string;
  /** The name of the client in `client list`; without a name, its access key. */
  readonly client?: string;
  readonly viewer?: string;
  readonly record?: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Adds to every later line about this request. */
    describe(caller: Caller): void;
  }
}

const UNKNOWN = 'unknown';

/** @returns an option of Fastify, and what adds `request.describe` to the application */
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
      // A proxy may pass on what a client wrote in place of an address: then the line has that of the proxy.
      if (isIP(request.ip) !== 0) request.describe({ remoteAddress: request.ip });
    });
  };
  return { childLoggerFactory, decorate };
}

/** The field `err` of a line: no other members of the error, since those of a database may quote what it was given. */
export function errorFields(thrown: unknown) {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const code = 'code' in error ? error.code : undefined;
  return { type: error.name, code, message: withCauses(error), stack: error.stack ?? '' };
}

/** Leaves out a cause that the message names already. */
function withCauses(error: Error): string {
  const message = reasonOf(error);
  const cause = error.cause instanceof Error ? withCauses(error.cause) : '';
  return message.includes(cause) ? message : `${message}: ${cause}`;
}

/** The field of a line that says who is at the other end. */
export function addressOf(socket: Pick<Socket, 'remoteAddress'>): { readonly remoteAddress: string | undefined } {
  return { remoteAddress: socket.remoteAddress };
}

/** Some ten thousand lines may wait, in characters. */
const MOST_WAITING = 4 * 1024 * 1024;

/**
 * Drops lines while too much of the log waits for its reader, and reports how many once it
 * reads again: a pipe takes what it can, and the rest would fill the memory of this process.
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
