/** The HTTPS application: routes, authentication and the envelope around every answer; it listens to nothing by itself. */

import type { Server } from 'node:https';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import { REPORT_PATH, SIGN_PATH } from '../../src/service/messages.ts';
import { createAfterSending } from './after-sending.ts';
import { authenticate } from './auth.ts';
import { refuse } from './envelope.ts';
import { finishBeforeClosing } from './finish-before-closing.ts';
import { clientErrorHandler, frameworkErrors, handleError, operationOf } from './http-errors.ts';
import type { KeyStore } from './keys/key-store.ts';
import type { Client, Store } from './records/store.ts';
import { handleReport } from './routes/report-sign.ts';
import { handleSign } from './routes/sign.ts';

/** A request has at most a few hundred bytes, and file names in `extra`. */
export const BODY_LIMIT = 64 * 1024;
/** A client that does not send its whole request in this time is cut off, in milliseconds. */
const REQUEST_TIMEOUT = 30_000;

export interface ServerDependencies {
  readonly store: Store;
  readonly keys: KeyStore;
  /** PEM: the certificate with its chain, and its private key. */
  readonly tls: { readonly certificate: string; readonly key: string };
  readonly now: () => Date;
  readonly log: { readonly level: string; readonly stream: { write(line: string): void } };
}

export type App = FastifyInstance<Server>;

/** Builds the application; `listen` and `inject` are the caller's. */
export function buildServer(dependencies: ServerDependencies): App {
  const { store, keys, tls, now, log } = dependencies;
  const app: App = Fastify({
    https: { cert: tls.certificate, key: tls.key, minVersion: 'TLSv1.2' },
    logger: { level: log.level, stream: log.stream },
    // Each operation logs its own line with stable fields; the framework's would show addresses given with secrets in them.
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT,
    requestTimeout: REQUEST_TIMEOUT,
    // By then nothing is under way; a connection on which nobody ever asks anything must not hold the end up.
    forceCloseConnections: true,
    return503OnClosing: false, // its body is no envelope: ours comes from finishBeforeClosing
    frameworkErrors,
    clientErrorHandler,
  });
  app.removeContentTypeParser('text/plain');
  app.setErrorHandler(handleError);
  finishBeforeClosing(app);
  // Before the body is read: what it holds makes no difference to an address that is not there.
  app.addHook('onRequest', async (request, reply) => (request.is404 ? answerUnknown(request, reply) : undefined));

  const afterSending = createAfterSending((wait) => app.addHook('onClose', wait));
  const clients = new WeakMap<FastifyRequest, Client>();
  // Before the body is read: who has no credentials gets nothing else out of the server.
  const onRequest = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const client = await authenticate(request.raw, store.clients);
    if (client !== undefined) {
      clients.set(request, client);
      return undefined;
    }
    request.log.warn({ operation: operationOf(request), outcome: 'refused', reason: 'unauthorized' });
    return refuse(reply.header('www-authenticate', 'Basic realm="codesign"'), 401, 'unauthorized');
  };
  const clientOf = (request: FastifyRequest): Client => {
    const client = clients.get(request);
    if (client === undefined) throw new TypeError('a request that was not authenticated reached its handler');
    return client;
  };
  app.post(SIGN_PATH, { onRequest }, (request, reply) =>
    handleSign({ store, keys, now, afterSending }, clientOf(request), request, reply),
  );
  app.post(REPORT_PATH, { onRequest }, (request, reply) =>
    handleReport({ store, now }, clientOf(request), request, reply),
  );
  return app;
}

/** 405 for another method on a path of the API, 404 for every other path. */
function answerUnknown(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const [path] = request.url.split('?');
  if (path !== SIGN_PATH && path !== REPORT_PATH) return refuse(reply, 404, 'not found');
  return refuse(reply.header('allow', 'POST'), 405, 'method not allowed: use POST');
}
