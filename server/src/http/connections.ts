/** The HTTPS server below the application: TLS, time limits, and closing connections. */

import type { IncomingMessage, RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { answerOnSocket } from './answers.ts';
import { connectionOf, limitConnections } from './connection-limit.ts';
import { addressOf } from './log.ts';

/** Only ciphers with authenticated encryption and forward secrecy: no CBC, and no CCM with a tag of 8 bytes. */
export const TLS_RULES = {
  minVersion: 'TLSv1.2',
  ciphers: 'TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256:ECDHE+AESGCM:ECDHE+CHACHA20',
} as const;
/** In milliseconds. With Node's default, a slow request could take twice as long as the limit. */
const CHECKING_INTERVAL = 500;
/**
 * Fastify's default for idle connections, in milliseconds. A client that signs one file after another keeps its
 * connection.
 */
const KEEP_ALIVE = 72_000;
export interface ConnectionOptions {
  readonly tls: { readonly certificate: string; readonly key: string };
  readonly limits: { readonly handshake: number; readonly request: number };
}

/** @returns a factory for Fastify, which would otherwise create a second server for `localhost` with its own certificate */
export function serverFactory({ tls, limits }: ConnectionOptions): (listener: RequestListener) => Server {
  return (listener) =>
    createServer(
      {
        cert: tls.certificate,
        key: tls.key,
        ...TLS_RULES,
        handshakeTimeout: limits.handshake,
        // Both limits are set, because Node applies the smaller to the headers and the larger to the whole request.
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
  let closing = false;
  // Every pipelined request adds a listener to its connection, so Node's warning about a listener leak would be wrong.
  server.on('secureConnection', (socket) => {
    socket.setMaxListeners(0);
    addressOf(socket);
  });
  // Node's listener would report failed handshakes as HTTP errors.
  server.removeAllListeners('tlsClientError');
  server.on('tlsClientError', (error: NodeJS.ErrnoException & { readonly reason?: string }, socket) => {
    const from = addressOf(connectionOf(socket));
    const line = { outcome: 'tls-failed', code: error.code, reason: error.reason, ...from };
    socket.destroy();
    if (closing || connections.wasReplaced(socket)) return;
    // Load balancers connect and disconnect immediately to check that the port is open.
    if (error.code === 'ECONNRESET') app.log.info(line);
    else app.log.warn(line, 'a TLS handshake failed');
  });
  // Without these two listeners, Node sends answers without a body.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('connect', (_request: IncomingMessage, socket: Socket) => answerOnSocket(socket, 405, app.log));
  // Fastify closes only connections that have sent at least part of a request. An unfinished TLS handshake would delay
  // the shutdown.
  app.addHook('preClose', async () => {
    closing = true;
    connections.close();
  });
}
