/** POST /v1/codesign/sign (API 4.1): checks, signs in the HSM, stores the record, then answers. */

import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AfterSending } from '../after-sending.ts';
import { refuse, success } from '../envelope.ts';
import { serverError } from '../errors.ts';
import type { KeyStore } from '../keys/key-store.ts';
import type { Client, Store } from '../records/store.ts';
import { checkSignRequest, REFUSAL_MESSAGE } from '../sign-request.ts';

export interface SignDependencies {
  readonly store: Pick<Store, 'certificates' | 'records'>;
  readonly keys: Pick<KeyStore, 'find'>;
  readonly now: () => Date;
  readonly afterSending: AfterSending;
}

/** Serves one signing request of an authenticated client. */
export async function handleSign(
  { store, keys, now, afterSending }: SignDependencies,
  client: Client,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const operation = 'sign';
  const check = await checkSignRequest(request.body, store.certificates.find, now());
  if (!check.accepted) {
    const { refusal, certificate } = check;
    request.log.info({ operation, outcome: 'refused', reason: refusal, certificate, client: client.id });
    return refuse(reply, 400, REFUSAL_MESSAGE[refusal]);
  }
  const { certificate, algorithm, digest, extra } = check.request;
  const key = await keys.find(certificate.keyId);
  if (key === undefined) throw serverError('key-not-found', { id: certificate.keyId });
  const signature = await key.sign(algorithm, digest);

  const record = randomUUID();
  const about = { operation, record, certificate: certificate.number, algorithm, client: client.id };
  if (reply.raw.destroyed) {
    // Nobody is there to get the signature: it is dropped, and does not count (API 8, rule 2).
    request.log.warn({ ...about, outcome: 'abandoned' });
    return reply;
  }
  await store.records.add({
    id: record,
    clientId: client.id,
    certificate: certificate.number,
    algorithm,
    digest,
    extra,
    signedAt: now(),
  });
  afterSending(reply, async (sent) => {
    if (sent) return;
    await store.records.uncount(record);
    request.log.warn({ ...about, outcome: 'not-sent' });
  });
  request.log.info({ ...about, outcome: 'signed' });
  return reply.send(success({ id: record, signature: Buffer.from(signature).toString('base64') }));
}
