import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import { ServerError } from '../errors.ts';
import type { KeyStore } from '../keys/pkcs11.ts';
import type { Store } from '../records/store.ts';
import { refuseForNow, success } from './answers.ts';
import { isUsable } from './sign-request.ts';

export const HEALTH_PATH = '/healthz';
export const READY_PATH = '/readyz';

const PATIENCE = 5000;

export type Readiness = ReturnType<typeof createReadiness>;

/** Checks that the database and the HSM respond, and that the HSM has the key of a usable certificate. */
export function createReadiness(store: Store, keys: KeyStore, now: () => Date, log: FastifyBaseLogger) {
  const keyIds = async () => {
    const certificates = await store.certificates.list();
    return certificates.filter((certificate) => isUsable(certificate, now())).map(({ keyId }) => keyId);
  };
  const checks = {
    database: store.check,
    async certificates() {
      if ((await keyIds()).length === 0) throw new ServerError('no-certificate-valid');
    },
    // This check ignores an unavailable database, which fails the check `database`.
    hsm: async () => keys.check(await keyIds().catch(() => [])),
  };
  let wasReady = true;
  const failing = onceASecond(async () => {
    const failures = await failuresOf(checks);
    for (const [what, err] of failures) log.warn({ outcome: 'not-ready', what, err });
    if (failures.length === 0 && !wasReady) log.info({ outcome: 'ready' });
    wasReady = failures.length === 0;
    return failures.map(([what]) => what);
  });
  return {
    checks: Object.keys(checks),
    /** @returns the names of the failed checks */
    failing,
    async handle(_request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
      const names = await failing();
      if (names.length === 0) return reply.send(success(null));
      return refuseForNow(reply, 5, `not ready: ${names.join(', ')}`);
    },
  };
}

/** Caches the result for a second, so that callers without credentials cannot keep the database and the HSM busy. */
export function onceASecond<T>(work: () => Promise<T>): () => Promise<T> {
  let latest: { readonly at: number; readonly result: Promise<T> } | undefined;
  return () => {
    const at = performance.now();
    if (latest === undefined || at - latest.at > 1000) latest = { at, result: work() };
    return latest.result;
  };
}

async function failuresOf(checks: Readonly<Record<string, () => Promise<void>>>) {
  const late = new Error(`no response within ${PATIENCE} ms`);
  const results = Object.entries(checks).map(async ([what, check]) => {
    const inTime = check().catch((error: unknown) => error);
    const failure = await Promise.race([inTime, sleep(PATIENCE, late, { ref: false })]);
    return failure === undefined ? [] : [[what, failure] as const];
  });
  return (await Promise.all(results)).flat();
}
