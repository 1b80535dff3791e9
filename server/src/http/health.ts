/** GET /healthz, /readyz and /metrics: for those who run the server. No credentials, and nothing that is anybody's secret. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import { serverError } from '../errors.ts';
import type { KeyStore } from '../keys/key-store.ts';
import type { Store } from '../records/store.ts';
import { refuse, success } from './envelope.ts';
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

/** The process is alive. */
export function handleHealth(_request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply.send(success(null));
}

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
    return refuse(reply.header('retry-after', '5'), 503, `not ready: ${failed.map(([what]) => what).join(', ')}`);
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
      if ((await keyIds()).length === 0) throw serverError('no-certificate-valid');
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
