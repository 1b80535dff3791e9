import type { IncomingMessage, RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { answerOnSocket, operationOf } from './answers.ts';
import { addressOf } from './log.ts';

/** Each connection takes about 60 KiB of memory. */
const MOST_CONNECTIONS = 4096;
/** File descriptors reserved for the server itself: database, HSM, log, and ten connections to PostgreSQL. */
const OWN_FILES = 128;

const CLIENTS_OPERATIONS: ReadonlySet<string | undefined> = new Set(['sign', 'report-sign', 'certificate']);

/** Minimum time between two log lines about closed connections, in milliseconds. */
const BETWEEN_LINES = 10_000;

/** Only ciphers with authenticated encryption and forward secrecy: no CBC, and no CCM with a tag of 8 bytes. */
export const TLS_RULES = {
  minVersion: 'TLSv1.2',
  ciphers: 'TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256:ECDHE+AESGCM:ECDHE+CHACHA20',
} as const;
/** Milliseconds between two checks of the time limits. With Node's default, a slow request could take twice as long. */
const CHECKING_INTERVAL = 500;
/** Milliseconds after which idle connections are closed (Fastify's default). */
const KEEP_ALIVE = 72_000;

/** Fastify's own factory would create a second server for `localhost` with a separate certificate. */
export function serverFactory(
  tls: { readonly certificate: string; readonly key: string },
  limits: { readonly handshake: number; readonly request: number },
) {
  return (listener: RequestListener): Server =>
    createServer(
      {
        cert: tls.certificate,
        key: tls.key,
        ...TLS_RULES,
        handshakeTimeout: limits.handshake,
        // Node applies the smaller limit to the headers, and the larger limit to the whole request.
        requestTimeout: limits.request,
        headersTimeout: limits.request,
        connectionsCheckingInterval: CHECKING_INTERVAL,
        keepAliveTimeout: KEEP_ALIVE,
        requireHostHeader: false, // checkHead rejects it with a body; Node would send none
      },
      listener,
    );
}

/**
 * Limits the application's connections, logs those that never send a request, and closes all of them at shutdown. Call
 * this after every other `preClose` hook is registered, so that running requests are finished first.
 * @param most limit on the number of open connections
 */
export function guardConnections(app: FastifyInstance<Server>, most: number): void {
  const { server } = app;
  const connections = limitConnections(app, most);
  // Each pipelined request adds a listener to the connection, so Node would warn about a listener leak.
  server.on('secureConnection', (socket) => {
    socket.setMaxListeners(0);
    addressOf(socket);
  });
  // The default listener reports failed handshakes as HTTP errors.
  server.removeAllListeners('tlsClientError');
  server.on('tlsClientError', (error: NodeJS.ErrnoException & { readonly reason?: string }, socket) => {
    const from = addressOf(connectionOf(socket));
    const line = { outcome: 'tls-failed', code: error.code, reason: error.reason, ...from };
    socket.destroy();
    if (connections.wasClosed(socket)) return;
    // Load balancers connect and disconnect immediately to check that the port is open.
    if (error.code === 'ECONNRESET') app.log.info(line);
    else app.log.warn(line, 'a TLS handshake failed');
  });
  // Without these listeners, Node sends responses without a body.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('connect', (_request: IncomingMessage, socket: Socket) => answerOnSocket(socket, 405, app.log));
  // Fastify closes only connections that have sent part of a request, so a TLS handshake could delay the shutdown.
  app.addHook('preClose', async () => connections.closeAll());
}

/**
 * At the limit, a new connection replaces the oldest connection without a request. If every connection has sent a
 * request, the oldest connection without valid credentials is replaced. Unauthenticated hosts therefore cannot lock
 * clients out.
 */
function limitConnections(app: FastifyInstance<Server>, most: number) {
  const open = new Set<Socket>();
  // A Set keeps its elements in the order in which they were added.
  const silent = new Set<Socket>();
  const withoutLogin = new Set<Socket>();
  const closed = new WeakSet<Socket>();
  let closing = false;
  let reported = Number.NEGATIVE_INFINITY;
  const forget = (socket: Socket) => {
    for (const sockets of [open, silent, withoutLogin]) sockets.delete(socket);
  };
  const close = (socket: Socket) => {
    closed.add(socket);
    forget(socket);
    socket.destroy();
  };
  const replace = (newest: Socket) => {
    const replaced = silent.values().next().value ?? withoutLogin.values().next().value ?? newest;
    close(replaced);
    if (performance.now() - reported < BETWEEN_LINES) return;
    reported = performance.now();
    app.log.warn({ outcome: 'connections-full', connections: most, ...addressOf(replaced) });
  };

  app.server.on('connection', (socket: Socket) => {
    addressOf(socket); // Node caches the address, and cannot read it after the client has disconnected
    if (closing) close(socket);
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
  // The credentials have been checked before `preParsing`.
  app.addHook('preParsing', async (request) => {
    if (CLIENTS_OPERATIONS.has(operationOf(request))) withoutLogin.delete(connectionOf(request.raw.socket));
  });
  return {
    /** True if the server closed this socket, or the TCP connection under it. */
    wasClosed: (socket: Socket) => closed.has(connectionOf(socket)),
    /** Closes all connections, including those that are opened later. */
    closeAll() {
      closing = true;
      for (const socket of open) close(socket);
    },
  };
}

/** `_parent` is not public. Without this property, the log may lack the client's address. */
function connectionOf(socket: Socket & { readonly _parent?: unknown }): Socket {
  return socket._parent instanceof Socket ? socket._parent : socket;
}

export function connectionLimit(files: number | undefined): number {
  if (files === undefined) return MOST_CONNECTIONS;
  return Math.min(MOST_CONNECTIONS, Math.max(files - OWN_FILES, Math.floor(files / 2)));
}

/** Node raises the soft limit to the hard limit at startup. */
export function openFilesLimit(): number | undefined {
  const { userLimits }: { readonly userLimits?: { readonly open_files?: { readonly soft?: unknown } } } =
    process.report.getReport();
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : undefined;
}
