/** The HTTPS server below the application: how long a handshake may take, what ends a connection, and how. */

import type { IncomingMessage, RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { answerOnSocket } from './answers.ts';
import { connectionOf, limitConnections } from './connection-limit.ts';
import { addressOf } from './log.ts';

/** Authenticated encryption and forward secrecy: no CBC, and no CCM with a tag of 8 bytes. */
export const TLS_RULES = {
  minVersion: 'TLSv1.2',
  ciphers: 'TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256:ECDHE+AESGCM:ECDHE+CHACHA20',
} as const;
/** How often Node looks for requests that took too long, in milliseconds; its own default would let them take twice as long. */
const CHECKING_INTERVAL = 500;
/** As long as Fastify's own default: clients that sign file after file keep their connection. Milliseconds. */
const KEEP_ALIVE = 72_000;
export interface ConnectionOptions {
  readonly tls: { readonly certificate: string; readonly key: string };
  readonly limits: { readonly handshake: number; readonly request: number };
}

/** @returns what makes the one server of an application: Fastify itself would make a second one for `localhost`, with a certificate of its own */
export function serverFactory({ tls, limits }: ConnectionOptions): (listener: RequestListener) => Server {
  return (listener) =>
    createServer(
      {
        cert: tls.certificate,
        key: tls.key,
        ...TLS_RULES,
        handshakeTimeout: limits.handshake,
        // Both, since Node takes what is smaller for the headers and what is larger for the whole request.
        requestTimeout: limits.request,
        headersTimeout: limits.request,
        connectionsCheckingInterval: CHECKING_INTERVAL,
        keepAliveTimeout: KEEP_ALIVE,
        requireHostHeader: false, // Node's own refusal has no body: see checkHead
      },
      listener,
    );
}

/**
 * Bounds the application's connections, logs those that never get as far as a request, and ends all of them with it.
 * To be called after every other `preClose` hook is registered: what is under way then is finished.
 * @param most limit of open connections
 */
export function guardConnections(app: FastifyInstance<Server>, most: number): void {
  const { server } = app;
  const connections = limitConnections(app, most);
  let closing = false;
  // Each of many requests that a client sends ahead listens for the end of their connection.
  server.on('secureConnection', (socket) => {
    socket.setMaxListeners(0);
    addressOf(socket);
  });
  // Node's own listener would report them as HTTP errors. TLS failed, so there is no client to answer.
  server.removeAllListeners('tlsClientError');
  server.on('tlsClientError', (error: NodeJS.ErrnoException & { readonly reason?: string }, socket) => {
    const from = addressOf(connectionOf(socket));
    const line = { outcome: 'tls-failed', code: error.code, reason: error.reason, ...from };
    socket.destroy();
    if (closing || connections.wasReplaced(socket)) return;
    // Load balancers connect and leave to see whether the port is open.
    if (error.code === 'ECONNRESET') app.log.info(line);
    else app.log.warn(line, 'a TLS handshake failed');
  });
  // Without these two listeners Node answers without a body.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('connect', (_request: IncomingMessage, socket: Socket) => answerOnSocket(socket, 405, app.log));
  // Fastify closes what has brought a request, or part of one; a handshake would keep the server until it times out.
  app.addHook('preClose', async () => {
    closing = true;
    connections.close();
  });
}
