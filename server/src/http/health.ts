/** GET /healthz, /readyz and /metrics, for those who run the server: no credentials, and no secrets. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { ServerError } from '../errors.ts';
import type { KeyStore } from '../keys/key-store.ts';
import type { Store } from '../records/store.ts';
import { refuseForNow, success } from './answers.ts';
import { isUsable } from './sign-request.ts';

export const HEALTH_PATH = '/healthz';
export const READY_PATH = '/readyz';
export const METRICS_PATH = '/metrics';

/** A database or an HSM that takes longer is taken for one that does not answer, in milliseconds. */
const PATIENCE = 5000;
/** Whoever asks more often gets the same answer: these calls need no credentials, and the HSM has other work. Milliseconds. */
const FRESH = 1000;

/** What must answer for the server to be able to sign. */
export type Checks = Readonly<Record<'database' | 'certificates' | 'hsm', () => Promise<void>>>;

/** @returns what serves /readyz: 200 where everything answers, else 503 */
export function createReadiness(
  checks: Checks,
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> {
  let latest: { readonly at: number; readonly failed: Promise<readonly (readonly [string, unknown])[]> } | undefined;
  return async (request, reply) => {
    const now = performance.now();
    if (latest === undefined || now - latest.at > FRESH) latest = { at: now, failed: failedOf(checks) };
    const failed = await latest.failed;
    if (failed.length === 0) return reply.send(success(null));
    for (const [what, err] of failed) request.log.warn({ outcome: 'not-ready', what, err });
    return refuseForNow(reply, 5, `not ready: ${failed.map(([what]) => what).join(', ')}`);
  };
}

/** What the server signs with: a certificate that is valid now and not disabled, and a key of one in the HSM. */
export function checksOf(store: Store, keys: KeyStore, now: () => Date): Checks {
  const keyIds = async () => {
    const certificates = await store.certificates.list();
    return certificates.filter((certificate) => isUsable(certificate, now())).map(({ keyId }) => keyId);
  };
  return {
    database: store.check,
    async certificates() {
      if ((await keyIds()).length === 0) throw new ServerError('no-certificate-valid');
    },
    // A database that is away fails its own check; the HSM is asked whether it answers at all.
    hsm: async () => await keys.check(await keyIds().catch(() => [])),
  };
}

async function failedOf(checks: Checks): Promise<readonly (readonly [string, unknown])[]> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([what, check]) => {
      let timer: NodeJS.Timeout | undefined;
      const tooLate = new Promise<never>((_resolve, reject) => {
        timer = setTimeout(() => reject(new Error(`no answer within ${PATIENCE} ms`)), PATIENCE);
      });
      try {
        await Promise.race([check(), tooLate]);
        return [];
      } catch (error) {
        return [[what, error] as const];
      } finally {
        clearTimeout(timer);
      }
    }),
  );
  return results.flat();
}

/** In seconds. An HSM answers at the lower end; a call that waits for one answers at the upper. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** What the server measures of its own work, for Prometheus. @param underWay gives the number of signatures being made */
export function createMetrics(underWay: () => number) {
  const registry = new Registry();
  const registers = [registry];
  const answers = new Counter({
    name: 'codesign_answers_total',
    help: 'Answers by operation and HTTP status.',
    labelNames: ['operation', 'status'],
    registers,
  });
  const durations = new Histogram({
    name: 'codesign_answer_seconds',
    help: 'Time from the headers of a request to the end of its answer.',
    labelNames: ['operation'],
    buckets: BUCKETS,
    registers,
  });
  new Gauge({
    name: 'codesign_signatures_under_way',
    help: 'Calls of sign that hold a session of the HSM or wait for one.',
    registers,
    collect() {
      this.set(underWay());
    },
  });
  return {
    contentType: registry.contentType,
    /** Counts an answer that was sent. */
    observe(operation: string, status: number, seconds: number) {
      answers.inc({ operation, status });
      durations.observe({ operation }, seconds);
    },
    /** All metrics in the text format of Prometheus. */
    text: () => registry.metrics(),
  };
}
