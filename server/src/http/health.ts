/** GET /healthz, /readyz and /metrics, for those who run the server: no credentials, and no secrets. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { ServerError } from '../errors.ts';
import type { KeyStore } from '../keys/pkcs11.ts';
import type { Store } from '../records/store.ts';
import { refuseForNow, success } from './answers.ts';
import { isUsable } from './sign-request.ts';
import type { WhyThrownAway } from './thrown-away.ts';

export const HEALTH_PATH = '/healthz';
export const READY_PATH = '/readyz';
export const METRICS_PATH = '/metrics';

/** A database or an HSM that takes longer counts as not answering, in milliseconds. */
const PATIENCE = 5000;
/** More frequent calls get the same answer: they need no credentials, and the HSM has other work. Milliseconds. */
const FRESH = 1000;

/** @returns the handler of /readyz: 200 if database and HSM answer and something can be signed with, else 503 */
export function createReadiness(store: Store, keys: KeyStore, now: () => Date) {
  const keyIds = async () => {
    const certificates = await store.certificates.list();
    return certificates.filter((certificate) => isUsable(certificate, now())).map(({ keyId }) => keyId);
  };
  const checks = {
    database: store.check,
    async certificates() {
      if ((await keyIds()).length === 0) throw new ServerError('no-certificate-valid');
    },
    // A database that is away fails its own check; this one is whether the HSM answers at all.
    hsm: async () => keys.check(await keyIds().catch(() => [])),
  };
  let latest: { readonly at: number; readonly failures: ReturnType<typeof failuresOf> } | undefined;
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const at = performance.now();
    if (latest === undefined || at - latest.at > FRESH) latest = { at, failures: failuresOf(checks) };
    const failures = await latest.failures;
    if (failures.length === 0) return reply.send(success(null));
    for (const [what, err] of failures) request.log.warn({ outcome: 'not-ready', what, err });
    return refuseForNow(reply, 5, `not ready: ${failures.map(([what]) => what).join(', ')}`);
  };
}

async function failuresOf(checks: Readonly<Record<string, () => Promise<void>>>) {
  const results = Object.entries(checks).map(async ([what, check]) => {
    const ended = new AbortController();
    const tooLate = async () => {
      await sleep(PATIENCE, undefined, { signal: ended.signal });
      throw new Error(`no answer within ${PATIENCE} ms`);
    };
    try {
      await Promise.race([check(), tooLate()]);
      return [];
    } catch (error) {
      return [[what, error] as const];
    } finally {
      ended.abort();
    }
  });
  return (await Promise.all(results)).flat();
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
  const thrownAway = new Counter({
    name: 'codesign_signatures_thrown_away_total',
    help: 'Signatures that the HSM made and no client got, by reason: refused, abandoned, failed.',
    labelNames: ['reason'],
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
    observe(operation: string, status: number, seconds: number) {
      answers.inc({ operation, status });
      durations.observe({ operation }, seconds);
    },
    countThrownAway(reason: WhyThrownAway) {
      thrownAway.inc({ reason });
    },
    text: () => registry.metrics(),
  };
}
