import type { FastifyReply, FastifyRequest } from 'fastify';
import type { KeyStore } from '../keys/pkcs11.ts';
import { OutcomeUnknown } from '../records/counting.ts';
import { newRecordId } from '../records/records.ts';
import { type Client, type NewRecord, quotasOf } from '../records/rows.ts';
import { maskExtra } from '../records/shown.ts';
import type { Store } from '../records/store.ts';
import { refuse, refuseForNow, success, unauthorized } from './answers.ts';
import { whyRejected } from './auth.ts';
import type { AfterSending } from './closing.ts';
import type { FairQueue } from './fair-queue.ts';
import { type CheckedSignRequest, checkSignRequest, REFUSALS, type RefusedSignRequest } from './sign-request.ts';
import type { ThrownAway } from './thrown-away.ts';

export interface SignDependencies {
  readonly store: Pick<Store, 'certificates' | 'clients' | 'counting'>;
  readonly keys: Pick<KeyStore, 'find'>;
  readonly hsm: FairQueue;
  readonly now: () => Date;
  readonly thrownAway: Pick<ThrownAway, 'note'>;
  readonly afterSending: AfterSending;
  readonly ending: AbortSignal;
  readonly settling: number;
}

interface Call {
  readonly client: Client;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}
interface CheckedCall extends Call {
  readonly checked: CheckedSignRequest;
  readonly id: string;
}

const operation = 'sign';
/** Milliseconds for which the server tries to revert a count. No client waits for the result. */
const TAKING_BACK = 10 * 60_000;

/** POST /v1/codesign/sign (API 4.1) */
export async function handleSign(
  dependencies: SignDependencies,
  client: Client,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { store, hsm, now } = dependencies;
  const check = await checkSignRequest(request.body, client, store.certificates.find, now());
  if ('refusal' in check) return refuseRequest({ client, request, reply }, check);
  const id = newRecordId(now());
  request.describe({ record: id });
  const call = { client, request, reply, checked: check, id };
  if (usedUp(client)) return refuseForQuota(call, client);
  const sign = (leaveHsm: () => void) => signAndCount(dependencies, call, leaveHsm);
  return await hsm.run(client.id, sign, () => {
    request.log.warn({ operation, outcome: 'refused', reason: 'busy', status: 503 });
    return refuseForNow(reply, 1, 'too many concurrent signature requests');
  });
}

async function signAndCount(
  dependencies: SignDependencies,
  call: CheckedCall,
  leaveHsm: () => void,
): Promise<FastifyReply> {
  const { store, keys, now, thrownAway, afterSending, ending, settling } = dependencies;
  const { client, request, reply, checked, id } = call;
  const { certificate, algorithm, digest, extra } = checked;
  if (reply.raw.destroyed) return abandoned(call); // the client disconnected while the call waited
  if (client.quota !== undefined || client.monthlyQuota !== undefined) {
    const current = (await store.clients.findByAccessKey(client.accessKey)) ?? client;
    if (usedUp(current)) return refuseForQuota(call, current);
  }

  const key = await keys.find(certificate.keyId);
  const signature = await key.sign(algorithm, digest, certificate.chain);
  // While transactions fail, the call keeps its slot, because the next signature could also be discarded.
  if (!store.counting.isFailing()) leaveHsm();
  if (reply.raw.destroyed) {
    thrownAway.note(client.id, 'abandoned'); // it does not count (API 8, rule 2)
    return abandoned(call);
  }

  // If the server is killed before this point, nothing has been counted.
  const signed = { id, clientId: client.id, certificate: certificate.number, algorithm, digest, signature };
  const record: NewRecord = { ...signed, extra: maskExtra(extra), signedAt: now() };
  const takeBack = () => store.counting.takeBack(record, { settling: TAKING_BACK, ending });
  const counted = await store.counting.add(record, { settling, ending }).catch((error: unknown) => {
    thrownAway.note(client.id, 'failed');
    if (error instanceof OutcomeUnknown) {
      request.log.warn({ ...about(call), outcome: 'unsettled', err: error });
      afterSending(reply, takeBack); // a call that fails must not count (API 8, rule 2)
    }
    throw error;
  });
  if (!counted) {
    thrownAway.note(client.id, 'refused');
    return await refuseByNow(dependencies, call);
  }

  // If the server is killed after this point, the signature has been counted, and the record contains the signature.
  afterSending(reply, async (sent) => {
    if (sent) return;
    await takeBack();
    request.log.warn({ ...about(call), outcome: 'not-sent' });
  });
  request.log.info({ ...about(call), outcome: 'signed' });
  return reply.send(success({ id, signature: Buffer.from(signature).toString('base64') }));
}

function usedUp(client: Client): 'total' | 'month' | undefined {
  return quotasOf(client).find(({ left }) => left === 0)?.period;
}

function about({ checked: { certificate, algorithm } }: CheckedCall) {
  return { operation, certificate: certificate.number, algorithm };
}

function abandoned(call: CheckedCall): FastifyReply {
  call.request.log.warn({ ...about(call), outcome: 'abandoned' });
  return call.reply;
}

function refuseForQuota(call: CheckedCall, client: Client): FastifyReply {
  call.request.log.warn({ ...about(call), outcome: 'refused', reason: 'quota' });
  const which = usedUp(client) === 'month' ? "this month's quota" : 'the quota';
  return refuse(call.reply, 403, `${which} is exhausted`);
}

function refuseRequest({ request, reply }: Call, { refusal, certificate }: RefusedSignRequest): FastifyReply {
  request.log.info({ operation, outcome: 'refused', reason: refusal, certificate });
  return refuse(reply, refusal === 'not-allowed' ? 403 : 400, REFUSALS[refusal]);
}

/** Rejects a call that passed all checks but could no longer be counted after signing. */
async function refuseByNow({ store, now }: SignDependencies, call: CheckedCall): Promise<FastifyReply> {
  const { request, reply } = call;
  const client = await store.clients.findByAccessKey(call.client.accessKey);
  const failure = client === undefined ? 'unknown-key' : whyRejected(client, now());
  if (client === undefined || failure !== undefined) {
    request.log.warn({ operation, outcome: 'refused', reason: 'unauthorized', failure });
    return unauthorized(reply);
  }
  const check = await checkSignRequest(request.body, client, store.certificates.find, now());
  return 'refusal' in check ? refuseRequest(call, check) : refuseForQuota(call, client);
}
