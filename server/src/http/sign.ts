/** POST /v1/codesign/sign (API 4.1): checks, keeps a place of the quota, signs in the HSM, stores the record, then answers. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServerError } from '../errors.ts';
import type { KeyStore } from '../keys/key-store.ts';
import { newRecordId } from '../records/records.ts';
import { maskExtra } from '../records/shown.ts';
import type { Client, Lease, Store } from '../records/store.ts';
import { refuse, success } from './answers.ts';
import type { AfterSending } from './closing.ts';
import type { FairQueue } from './fair-queue.ts';
import { checkSignRequest, REFUSALS } from './sign-request.ts';

export interface SignDependencies {
  readonly store: Pick<Store, 'certificates' | 'quota' | 'records'>;
  readonly keys: Pick<KeyStore, 'find'>;
  /** Shares the HSM between clients. */
  readonly hsm: FairQueue;
  readonly now: () => Date;
  /** How long a call may hold a place of the quota before others may take it for dead, in milliseconds. */
  readonly lease: number;
  readonly afterSending: AfterSending;
  /** Aborted once the server ends. */
  readonly ending: AbortSignal;
  /** How long a call waits for a database that is away to say whether the signature counts, in milliseconds. */
  readonly settling: number;
}

/** The same after an answer, when no client waits for it. */
const TAKING_BACK = 10 * 60_000;
/** Between two attempts, in milliseconds. */
const PAUSE = 200;

/** Serves one signing request of an authenticated client. */
export async function handleSign(
  { store, keys, hsm, now, lease: term, afterSending, ending, settling }: SignDependencies,
  client: Client,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const operation = 'sign';
  const check = await checkSignRequest(request.body, client, store.certificates.find, now());
  if (!check.accepted) {
    const { refusal, certificate } = check;
    request.log.info({ operation, outcome: 'refused', reason: refusal, certificate });
    return refuse(reply, refusal === 'not-allowed' ? 403 : 400, REFUSALS[refusal]);
  }
  const { certificate, algorithm, digest, extra } = check.request;
  const record = newRecordId(now());
  request.describe({ record });
  const about = { operation, certificate: certificate.number, algorithm };
  const quotaExhausted = () => {
    request.log.warn({ ...about, outcome: 'refused', reason: 'quota' });
    return refuse(reply, 403, 'the quota is exhausted');
  };

  const abandoned = () => {
    request.log.warn({ ...about, outcome: 'abandoned' });
    return reply;
  };
  if (reply.raw.destroyed) return abandoned(); // while it waited for its turn

  // What was read of the client suffices to refuse most calls beyond a quota, at no more cost.
  if (client.quota !== undefined && client.signatures >= client.quota) return quotaExhausted();

  // 1. A place of the quota: a server killed from here to step 3 leaves a lease that expires, and counts nothing.
  const lease: Lease = { id: record, clientId: client.id, expiresAt: new Date(now().getTime() + term) };
  if (!(await store.quota.reserve(lease, now()))) return quotaExhausted();

  // 2. The HSM.
  const signature = await orGiveBack(store, lease, async () => {
    const key = await keys.find(certificate.keyId);
    if (key === undefined) throw new ServerError('key-not-found', { id: certificate.keyId });
    return await hsm.run(client.id, () => key.sign(algorithm, digest));
  });
  if (reply.raw.destroyed) {
    // The client is gone: the signature is dropped, and does not count (API 8, rule 2).
    await store.quota.release(lease);
    return abandoned();
  }

  // 3. Record and count: a server killed from here on has counted, and the record holds the signature.
  const kept = { id: record, clientId: client.id, certificate: certificate.number, algorithm, digest, signature };
  const entry = { ...kept, extra: maskExtra(extra), signedAt: now() };
  const takeBack = async () => {
    if (!(await store.quota.release(lease))) await store.records.uncount(record);
  };
  const takeBackLater = () => untilAnswered(takeBack, TAKING_BACK, ending);
  const counted = await store.records.add(entry, lease).catch(async (error: unknown) => {
    // The database may have done it, and only its answer be lost. A call that fails must not count (API 8, rule 2).
    request.log.warn({ ...about, outcome: 'unsettled', err: error });
    const release = () => store.quota.release(lease);
    const released = await untilAnswered(release, settling, ending).catch((unanswered: unknown) => {
      afterSending(reply, takeBackLater);
      throw unanswered;
    });
    if (released) throw error;
    return true;
  });
  if (!counted) return quotaExhausted();

  // 4. The answer.
  afterSending(reply, async (sent) => {
    if (sent) return;
    await takeBackLater();
    request.log.warn({ ...about, outcome: 'not-sent' });
  });
  request.log.info({ ...about, outcome: 'signed' });
  return reply.send(success({ id: record, signature: Buffer.from(signature).toString('base64') }));
}

/** The result of `work`. If it fails, the quota's lease is released immediately, not when it expires. */
async function orGiveBack<T>({ quota }: Pick<Store, 'quota'>, lease: Lease, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await quota.release(lease).catch(() => {}); // the caller reports the first failure; the lease expires by itself
    throw error;
  }
}

/**
 * Retries work on a database that may be restarting. The work may be done twice.
 * @param patience when to give up, in milliseconds @param ending gives up once it is aborted @throws the last error
 */
async function untilAnswered<T>(work: () => Promise<T>, patience: number, ending: AbortSignal): Promise<T> {
  const deadline = performance.now() + patience;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (ending.aborted || performance.now() > deadline) throw error;
      await sleep(PAUSE, undefined, { signal: ending }).catch(() => {}); // an abort only ends the wait
    }
  }
}
