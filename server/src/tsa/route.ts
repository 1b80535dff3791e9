/** POST /tsa: the optional timestamp authority over HTTP (RFC 3161, section 3.4). No credentials, and nothing is counted. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import { newSerialNumber } from '../certificates/authority.ts';
import { refuseForNow } from '../http/answers.ts';
import type { FairQueue } from '../http/fair-queue.ts';
import { checkQuery, type Failure, granted, rejected } from './messages.ts';
import type { IssueToken, TimestampAuthority } from './token.ts';

const REPLY_TYPE = 'application/timestamp-reply';
/** A request has some sixty bytes, and hundreds with a large nonce. */
export const QUERY_LIMIT = 4096;

export interface TimestampDependencies {
  readonly authority: Pick<TimestampAuthority, 'notBefore' | 'notAfter'>;
  readonly issue: IssueToken;
  /** Shares the authority between the addresses that requests come from. */
  readonly queue: FairQueue;
  readonly now: () => Date;
}

/** Serves one request for a timestamp, from any caller. */
export async function handleTimestamp(
  { authority, issue, queue, now }: TimestampDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const operation = 'timestamp';
  const { body } = request;
  const reject = (failure: Failure, message: string) => {
    request.log.info({ operation, outcome: 'refused', reason: failure });
    return reply.type(REPLY_TYPE).send(rejected(failure, message));
  };
  if (!Buffer.isBuffer(body)) return reject('badDataFormat', 'the body holds no request');
  const check = checkQuery(body);
  if (!check.accepted) return reject(check.failure, check.message);

  const serve = async () => {
    if (reply.raw.destroyed) return undefined; // no client waits for it any longer
    const time = now();
    if (time < authority.notBefore || time > authority.notAfter) return 'late' as const;
    const serialNumber = newSerialNumber();
    return { serialNumber, token: await issue(check.query, { time, serialNumber }) };
  };
  const result = await queue.run(request.ip, serve, () => 'busy' as const);
  if (result === 'busy') {
    request.log.warn({ operation, outcome: 'refused', reason: 'busy', status: 503 });
    return refuseForNow(reply, 1, 'too many concurrent timestamp requests');
  }
  if (result === undefined) {
    request.log.info({ operation, outcome: 'abandoned' });
    return reply;
  }
  if (result === 'late')
    return reject('timeNotAvailable', "the authority's clock is outside its certificate's validity");
  const serial = Buffer.from(result.serialNumber).toString('hex');
  request.log.info({ operation, outcome: 'granted', algorithm: check.query.algorithm, serial });
  return reply.type(REPLY_TYPE).send(granted(result.token));
}
