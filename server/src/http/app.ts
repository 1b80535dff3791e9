import type { Server } from 'node:https';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import { REPORT_PATH, SIGN_PATH } from '../../../src/service/messages.ts';
import type { KeyStore } from '../keys/pkcs11.ts';
import { servePage } from '../page/route.ts';
import type { Store } from '../records/store.ts';
import {
  answerClientError,
  CHAIN_PATH,
  checkHead,
  frameworkErrors,
  handleError,
  operationOf,
  PAGE_PATH,
  refuse,
  refuseHttp,
  STYLE_PATH,
  success,
  unauthorized,
} from './answers.ts';
import { requireLogin } from './auth.ts';
import { readJsonBodies } from './body.ts';
import { createAfterSending, finishBeforeClosing } from './closing.ts';
import { guardConnections, serverFactory } from './connections.ts';
import { createFairQueue } from './fair-queue.ts';
import { createReadiness, HEALTH_PATH, READY_PATH } from './health.ts';
import { createRequestLog, errorFields } from './log.ts';
import { createMetrics, METRICS_PATH, type Metrics } from './metrics.ts';
import { handleReport } from './report-sign.ts';
import { handleSign } from './sign.ts';
import { createThrownAway } from './thrown-away.ts';

export const BODY_LIMIT = 64 * 1024;
/** All limits are in milliseconds. */
export interface TimeLimits {
  readonly handshake: number;
  /** A client with an incomplete request gets an error after this time, and is disconnected. */
  readonly request: number;
  /** This limit replaces `request` during shutdown, and is measured from the start of the shutdown. */
  readonly bodyAtEnd: number;
  /** A `sign` call fails if the database is unavailable for this time. */
  readonly settling: number;
}
const TIME_LIMITS: TimeLimits = { handshake: 10_000, request: 30_000, bodyAtEnd: 5000, settling: 20_000 };
/**
 * Number of concurrent calls per HSM thread while several clients sign. With the higher limit for a single client, a
 * client with 16 callers got about a sixth of the signatures next to a client with 450 callers.
 */
const SHARED_CALLS_FOR_EACH_THREAD = 8;

export interface ServerDependencies {
  readonly store: Store;
  readonly keys: KeyStore;
  readonly tls: { readonly certificate: string; readonly key: string };
  readonly now: () => Date;
  readonly log: { readonly level: string; readonly stream: { write(line: string): void } };
  readonly limits?: Partial<TimeLimits>;
  readonly connections: number;
  readonly sessions: number;
  readonly threads: number;
  readonly waiting: number;
  readonly proxy: readonly string[];
}

export type App = FastifyInstance<Server>;

export function buildServer(dependencies: ServerDependencies): App {
  const { tls, now, log, connections } = dependencies;
  const limits = { ...TIME_LIMITS, ...dependencies.limits };
  const requestLog = createRequestLog();
  const app: App = Fastify({
    serverFactory: serverFactory(tls, limits),
    logger: { level: log.level, stream: log.stream, serializers: { err: errorFields } },
    childLoggerFactory: requestLog.childLoggerFactory,
    // Fastify's own log lines would show URLs, which may contain secrets.
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT,
    trustProxy: [...dependencies.proxy],
    pluginTimeout: 0, // it applies to preClose too, and a running signature may take longer than any limit
    forceCloseConnections: true,
    return503OnClosing: false, // its body is not an envelope; finishBeforeClosing sends ours
    frameworkErrors,
    clientErrorHandler: (error, socket) => answerClientError(error, socket, app.log),
  });
  requestLog.decorate(app);
  readJsonBodies(app);
  app.setErrorHandler(handleError);
  const ending = new AbortController();
  app.addHook('preClose', async () => ending.abort()); // before the hooks that wait for running requests
  finishBeforeClosing(app, limits.bodyAtEnd);
  guardConnections(app, connections);
  app.addHook('onRequest', checkHead);
  // This hook runs before the body is parsed, so an invalid body cannot change the response.
  app.addHook('onRequest', async (request, reply) => (request.is404 ? answerUnknown(request, reply) : undefined));
  const metrics = serveApi(app, dependencies, ending.signal);
  servePage(app, dependencies.store, now, metrics.countFailedLogin);
  return app;
}

/** Adds the routes of the two API operations, of certificate chains, and of health and metrics. */
function serveApi(app: App, dependencies: ServerDependencies, ending: AbortSignal): Metrics {
  const { store, keys, now, sessions, threads, waiting } = dependencies;
  const { settling } = { ...TIME_LIMITS, ...dependencies.limits };
  const afterSending = createAfterSending((wait) => app.addHook('onClose', wait));
  let underWay = 0;
  const readiness = createReadiness(store, keys, now, app.log);
  const metrics = createMetrics(store, readiness, now, () => underWay);
  const { onRequest, holderOf: clientOf } = requireLogin({
    holders: store.clients,
    kind: 'client',
    now,
    countFailure: metrics.countFailedLogin,
    reject: unauthorized,
  });
  const thrownAway = createThrownAway(metrics.countThrownAway);
  const hsm = createFairQueue({
    atOnce: sessions,
    oneByOne: store.counting.isFailing,
    shared: Math.min(sessions, SHARED_CALLS_FOR_EACH_THREAD * threads),
    limit: waiting,
    isLast: thrownAway.isWasteful,
  });
  const signing = { store, keys, hsm, now, thrownAway, afterSending, ending, settling };
  app.post(SIGN_PATH, { onRequest }, async (request, reply) => {
    underWay += 1;
    try {
      return await handleSign(signing, clientOf(request), request, reply);
    } finally {
      underWay -= 1;
    }
  });
  app.post(REPORT_PATH, { onRequest }, (request, reply) =>
    handleReport({ store, now }, clientOf(request), request, reply),
  );

  app.get<{ Params: { number: string } }>(CHAIN_PATH, { onRequest }, async (request, reply) => {
    const { number } = request.params;
    const isAllowed = clientOf(request).certificates?.includes(number) !== false;
    const found = isAllowed ? await store.certificates.find(number) : undefined;
    request.log.info({ operation: 'certificate', outcome: found ? 'shown' : 'refused', certificate: found?.number });
    if (found === undefined) return refuse(reply, 404, 'not found');
    return reply.type('application/pem-certificate-chain').send(found.chain);
  });

  app.addHook('onResponse', async (request, reply) =>
    metrics.observe(operationOf(request) ?? 'other', reply.statusCode, reply.elapsedTime / 1000),
  );
  app.get(HEALTH_PATH, (_request, reply) => reply.send(success(null)));
  app.get(READY_PATH, readiness.handle);
  app.get(METRICS_PATH, async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()));
  return metrics;
}

function answerUnknown(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const [path = ''] = request.url.split('?');
  const isChain = /^\/certificates\/[^/]*\.pem$/.test(path);
  const got = isChain || [HEALTH_PATH, READY_PATH, METRICS_PATH, PAGE_PATH, STYLE_PATH].includes(path);
  const status = got || [SIGN_PATH, REPORT_PATH].includes(path) ? 405 : 404;
  if (status === 404) return refuseHttp(request, reply, 404, 'not found');
  const [allowed, method] = got ? ['GET, HEAD', 'GET'] : ['POST', 'POST'];
  return refuseHttp(request, reply.header('allow', allowed), 405, `method not allowed: use ${method}`);
}
