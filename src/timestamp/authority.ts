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
      /** True if a retry might succeed after a longer wait. */
      readonly mayRecover: boolean;
    };

export interface TimestampRequest {
  readonly signatureValue: SignedContent;
  readonly isStillWanted: () => boolean;
  /** True if there is another authority to try, so that long waits are pointless. */
  readonly hasNext: boolean;
  readonly signal: AbortSignal | undefined;
}

/** Limit in milliseconds on all waits for one file at one authority. */
export const WAITING_BUDGET = 90_000;
/** Limit in milliseconds on one wait if there is another authority to try. */
const WAIT_BEFORE_NEXT = 2000;
/** Tokens that include all their certificates are a few kilobytes long. */
const ANSWER_LIMIT = 256 * 1024;

export type Authority = ReturnType<typeof createAuthority>;

export function createAuthority(options: AuthorityOptions) {
  const { url, http, timeoutMilliseconds, clock } = options;
  const limit = pLimit(options.concurrency);
  const name = printable(`${url.origin}${url.pathname}`);
  // Some authorities require an API key as part of their address.
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
    // If a request was interrupted, that shows nothing about the authority.
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
    /** Address for display, without the user name, the password and the query, which may contain secrets. */
    name,
    /** True if the last failure will probably occur again for the next file. */
    isDown: () => isDown,
    /** Returns undefined if the request is no longer needed. Rejects when the signal is aborted. */
    request: (request: TimestampRequest) =>
      // The slot is kept during waits, so that an authority that throttles requests gets no other request in that time.
      withinLimit(limit, async () => (request.isStillWanted() ? await stamp(request) : undefined), request.signal),
  };
}
