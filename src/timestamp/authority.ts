import pLimit from 'p-limit';
import { digestOfContent, type SignedContent } from '../cms/verify-signer.ts';
import { NODE_DIGEST_NAME } from '../crypto/algorithms.ts';
import { printable } from '../errors/printable.ts';
import type { Http } from '../http/http.ts';
import { withinLimit } from '../http/limit.ts';
import { type OnWait, type RetryClock, retry } from '../http/retry.ts';
import { foreignText } from '../secrets/foreign-text.ts';
import type { CheckedToken, ExpectedAnswer } from './check-answer.ts';
import { type Classified, classifyOutcome } from './classify-outcome.ts';
import { buildTimestampRequest, NONCE_LENGTH, nonceOf } from './request.ts';

export interface AuthorityOptions extends Pick<ExpectedAnswer, 'algorithm' | 'policy' | 'roots'> {
  readonly url: URL;
  readonly http: Http;
  readonly timeoutMilliseconds: number;
  readonly concurrency: number;
  readonly now: () => Date;
  readonly randomBytes: (length: number) => Uint8Array;
  readonly clock: RetryClock;
  readonly onWait?: OnWait | undefined;
}

export type Received =
  | CheckedToken
  | {
      readonly reason: string;
      readonly mayRecover: boolean;
    };

export interface TimestampRequest {
  readonly signatureValue: SignedContent;
  readonly isStillWanted: () => boolean;
  /** With another authority to try, long waits are pointless. */
  readonly hasNext: boolean;
  readonly signal: AbortSignal | undefined;
}

/** Limit in milliseconds for one file at one authority. */
export const WAITING_BUDGET = 90_000;
/** Limit in milliseconds if there is another authority. */
const WAIT_BEFORE_NEXT = 2000;
/** Tokens with all their certificates have a few kilobytes. */
const ANSWER_LIMIT = 256 * 1024;

export type Authority = ReturnType<typeof createAuthority>;

export function createAuthority(options: AuthorityOptions) {
  const { url, http, timeoutMilliseconds, clock } = options;
  const limit = pLimit(options.concurrency);
  const name = printable(`${url.origin}${url.pathname}`);
  // Some authorities require an API key in their address.
  const secrets = foreignText([...url.searchParams.values()]);
  let isDown = false;

  const attempt = async ({ signatureValue, signal }: TimestampRequest): Promise<Classified> => {
    const { algorithm, policy, roots } = options;
    const nonce = nonceOf(options.randomBytes(NONCE_LENGTH));
    const digest = digestOfContent(signatureValue, NODE_DIGEST_NAME[algorithm]);
    const outcome = await http.post({
      url,
      contentType: 'application/timestamp-query',
      accept: 'application/timestamp-reply',
      body: buildTimestampRequest({ algorithm, digest, policy, nonce }),
      deadlineMilliseconds: timeoutMilliseconds,
      sizeLimit: ANSWER_LIMIT,
      signal,
    });
    // An interruption shows nothing about the authority.
    if (outcome.kind === 'failure' && outcome.reason === 'interrupted') signal?.throwIfAborted();
    const now = options.now();
    const classified = classifyOutcome(outcome, { signatureValue, algorithm, policy, nonce, now, roots });
    isDown = classified.kind !== 'done' && classified.failure.isDown;
    return classified;
  };

  const stamp = async (request: TimestampRequest): Promise<Received> => {
    const { hasNext, signal } = request;
    const retried = await retry({
      attempt: () => attempt(request),
      clock,
      signal,
      budget: WAITING_BUDGET,
      longestWait: hasNext ? WAIT_BEFORE_NEXT : undefined,
      onWait: ({ reason }, wait) => options.onWait?.(`${name}: ${secrets.mask(reason)}`, wait),
    });
    if ('result' in retried) return retried.result;
    const { failure, attempts, mayRecover } = retried;
    const reason = printable(secrets.mask(failure.reason)) + (attempts > 1 ? ` after ${attempts} attempts` : '');
    return { reason, mayRecover };
  };

  return {
    /** Address without user name, password and query, which may contain secrets. */
    name,
    /** The last failure will probably occur for the next file too. */
    isDown: () => isDown,
    /** Returns undefined if the timestamp is no longer wanted. Rejects when the signal is aborted. */
    request: (request: TimestampRequest) =>
      // Keeps its slot while waiting: an authority that throttles gets no other request.
      withinLimit(limit, async () => (request.isStillWanted() ? await stamp(request) : undefined), request.signal),
  };
}
