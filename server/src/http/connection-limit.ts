import type { IncomingMessage } from 'node:http';
import type { Server } from 'node:https';
import { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { operationOf } from './answers.ts';
import { addressOf } from './log.ts';

/** Each connection takes about 60 KiB of memory. */
const MOST_CONNECTIONS = 4096;
/** File descriptors reserved for the server itself: database, HSM, log, and ten connections to PostgreSQL. */
const OWN_FILES = 128;

const CLIENTS_OPERATIONS: ReadonlySet<string | undefined> = new Set(['sign', 'report-sign', 'certificate']);

/** Minimum time between two log lines about closed connections, in milliseconds. */
const BETWEEN_LINES = 10_000;

/**
 * At the limit, a new connection replaces the oldest connection that has not sent a request. If every connection has
 * sent one, the oldest one without valid credentials is replaced, so that unauthenticated hosts cannot lock clients
 * out. If every connection has valid credentials, the new connection is closed.
 */
export function limitConnections(app: FastifyInstance<Server>, most: number) {
  const open = new Set<Socket>();
  // The first element of a Set is the one that was added first.
  const silent = new Set<Socket>();
  const withoutLogin = new Set<Socket>();
  const replaced = new WeakSet<Socket>();
  let closing = false;
  let reported = Number.NEGATIVE_INFINITY;
  const forget = (socket: Socket) => {
    for (const sockets of [open, silent, withoutLogin]) sockets.delete(socket);
  };
  const replace = (newest: Socket) => {
    const closed = silent.values().next().value ?? withoutLogin.values().next().value ?? newest;
    replaced.add(closed);
    forget(closed);
    closed.destroy();
    if (performance.now() - reported < BETWEEN_LINES) return;
    reported = performance.now();
    app.log.warn({ outcome: 'connections-full', connections: most, ...addressOf(closed) });
  };

  app.server.on('connection', (socket: Socket) => {
    addressOf(socket); // Node caches the address, and cannot read it after the client has disconnected
    if (closing) socket.destroy();
    else if (open.size >= most) replace(socket);
    if (socket.destroyed) return;
    open.add(socket);
    silent.add(socket);
    socket.once('close', () => forget(socket));
  });
  app.server.on('request', ({ socket }: IncomingMessage) => {
    const connection = connectionOf(socket);
    if (silent.delete(connection)) withoutLogin.add(connection);
  });
  // The credentials are checked before this hook runs, and the body is read after it.
  app.addHook('preParsing', async (request) => {
    if (CLIENTS_OPERATIONS.has(operationOf(request))) withoutLogin.delete(connectionOf(request.raw.socket));
  });
  return {
    /** True if this socket, or the TLS connection over it, was closed to make space for a newer one. */
    wasReplaced: (socket: Socket) => replaced.has(connectionOf(socket)),
    /** Closes all connections, including those that are opened later. */
    close() {
      closing = true;
      for (const socket of open) socket.destroy();
    },
  };
}

/**
 * Node's property for the underlying TCP socket is not public. If it is missing, the log may lack the client's address.
 */
export function connectionOf(socket: Socket & { readonly _parent?: unknown }): Socket {
  return socket._parent instanceof Socket ? socket._parent : socket;
}

export function connectionLimit(files: number | undefined): number {
  if (files === undefined) return MOST_CONNECTIONS;
  return Math.min(MOST_CONNECTIONS, Math.max(files - OWN_FILES, Math.floor(files / 2)));
}

/** Returns the limit on the number of open files. Node raises the soft limit to the hard limit at startup. */
export function openFilesLimit(): number | undefined {
  const report: { readonly userLimits?: { readonly open_files?: { readonly soft?: unknown } } } =
    process.report.getReport();
  const soft = report.userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : undefined;
}
