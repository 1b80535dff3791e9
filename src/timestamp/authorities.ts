import pLimit, { type LimitFunction } from 'p-limit';
import { digestOfContent, type SignedContent } from '../cms/verify-signer.ts';
import { NODE_DIGEST_NAME } from '../crypto/algorithms.ts';
import { printable } from '../errors/printable.ts';
import type { Http } from '../http/http.ts';
import type { AnswerHead, Failure, Outcome } from '../http/request.ts';
import { type Attempt, type OnWait, REAL_RETRY_CLOCK, type RetryClock, readRetryAfter, retry } from '../http/retry.ts';
import { foreignText, withoutDenseRuns } from '../secrets/foreign-text.ts';
import { type CheckedToken, checkAnswer, type ExpectedAnswer } from './check-answer.ts';
import { timestampErrors } from './errors.ts';
import { buildTimestampRequest, NONCE_LENGTH, nonceOf } from './request.ts';

export interface Stamped {
  readonly token: Uint8Array;
  readonly time: Date;
  /** Address without user name, password and query, which may contain secrets. */
  readonly authority: string;
}

export interface TimestampAuthoritiesOptions extends Pick<ExpectedAnswer, 'algorithm' | 'policy' | 'roots'> {
  readonly urls: readonly URL[];
  readonly http: Http;
  readonly timeoutMilliseconds: number;
  readonly now: () => Date;
  readonly randomBytes: (length: number) => Uint8Array;
  readonly onWait?: OnWait | undefined;
  readonly concurrency?: number | undefined;
  readonly clock?: RetryClock | undefined;
}

/** Some authorities allow only one request every one or two seconds. */
const USUAL_CONCURRENCY = 2;

export type TimestampAuthorities = ReturnType<typeof createTimestampAuthorities>;

export function createTimestampAuthorities(options: TimestampAuthoritiesOptions) {
  const authorities = options.urls.map((url) => createAuthority(url, options));
  return {
    /** Tries the authorities in the user's order, and returns the first valid token. */
    async stamp(signatureValue: SignedContent, signal?: AbortSignal): Promise<Stamped> {
      const untried = new Set(authorities);
      // These authorities are tried again if no other authority returns a timestamp.
      const busy = new Set<Authority>();
      const next = () => firstOf(untried) ?? firstOf(busy);
      const reasons: string[] = [];
      for (let authority = next(); authority !== undefined; authority = next()) {
        const asked = authority;
        const isStillWanted = () => next() === asked;
        const hasNext = untried.has(asked) && untried.size + busy.size > 1;
        const requested = asked.request({ signatureValue, isStillWanted, hasNext, signal });
        const received = await orInterrupted(requested, reasons, signal);
        if (received === undefined) continue;
        if ('token' in received) return { ...received, authority: asked.name };
        untried.delete(asked);
        busy.delete(asked);
        if (hasNext && received.mayRecover) busy.add(asked);
        else reasons.push(`${asked.name}: ${received.reason}`);
      }
      throw timestampErrors('timestamp-failed', { reasons: reasons.join('; '), authorities: authorities.length });
    },
  };
}

/** Prefers authorities that have not just failed for another file. */
function firstOf(untried: ReadonlySet<Authority>): Authority | undefined {
  const all = [...untried];
  return all.find((authority) => !authority.isDown()) ?? all[0];
}

async function orInterrupted(
  requested: Promise<Received | undefined>,
  reasons: readonly string[],
  signal: AbortSignal | undefined,
): Promise<Received | undefined> {
  try {
    return await requested;
  } catch (cause) {
    if (!signal?.aborted) throw cause;
    const tried = reasons.length === 0 ? '' : ` (${reasons.join('; ')})`;
    throw timestampErrors('timestamp-interrupted', { reasons: tried }, { cause });
  }
}

type Received = CheckedToken | { readonly reason: string; readonly mayRecover: boolean };

interface TimestampRequest {
  readonly signatureValue: SignedContent;
  readonly isStillWanted: () => boolean;
  /** True if there is another authority to try instead of a long wait. */
  readonly hasNext: boolean;
  readonly signal: AbortSignal | undefined;
}

/** Limit in milliseconds on the waits for one file at one authority. */
export const WAITING_BUDGET = 90_000;
/** Limit in milliseconds on each wait if there is another authority. */
const WAIT_BEFORE_NEXT = 2000;
/** A token with its certificates has a few kilobytes. */
const ANSWER_LIMIT = 256 * 1024;

type Authority = ReturnType<typeof createAuthority>;

function createAuthority(url: URL, options: TimestampAuthoritiesOptions) {
  const { http, timeoutMilliseconds, concurrency = USUAL_CONCURRENCY, clock = REAL_RETRY_CLOCK } = options;
  const limit = pLimit(concurrency);
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
    // An interruption says nothing about the authority.
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
    name,
    isDown: () => isDown,
    /** Returns undefined if the timestamp is no longer wanted. */
    request: (request: TimestampRequest) =>
      // A request keeps its slot while it waits: an authority that throttles gets no other request.
      withinLimit(limit, async () => (request.isStillWanted() ? await stamp(request) : undefined), request.signal),
  };
}

type Classified = Attempt<CheckedToken, Refused>;

interface Refused {
  /** The text may contain control characters. */
  readonly reason: string;
  /** True if the next file would probably fail too. */
  readonly isDown: boolean;
}

export const MAX_ATTEMPTS = 4;

const HTML = /^\s*(<!doctype html|<html)/i;
const LOOKED_AT = 200;

function classifyOutcome(outcome: Outcome, asked: ExpectedAnswer): Classified {
  const { kind } = outcome;
  const head = kind === 'answer' ? outcome : outcome.head;
  const retryAfter = readRetryAfter(head?.headers.get('retry-after'), asked.now.getTime());
  if (head !== undefined && !(head.status >= 200 && head.status < 300)) return classifyStatus(head, retryAfter);
  if (kind === 'failure') return classifyFailure(outcome, retryAfter);
  const checked = checkAnswer(outcome.body, asked);
  if ('token' in checked) return { kind: 'done', result: checked };
  const isPage = HTML.test(Buffer.from(outcome.body.subarray(0, LOOKED_AT)).toString('latin1'));
  return final(isPage ? 'a web page instead of a timestamp' : checked.refusal);
}

function classifyStatus({ status, headers }: AnswerHead, retryAfter: number | undefined): Classified {
  const location = headers.get('location');
  const redirect =
    status >= 300 && status < 400 && location !== undefined ? `, a redirect to ${withoutDenseRuns(location)}` : '';
  const reason = `HTTP ${status}${redirect}`;
  return status === 429 || status >= 500 ? transient(reason, retryAfter) : final(reason);
}

function classifyFailure({ reason, ...failure }: Failure, retryAfter: number | undefined): Classified {
  // TLS errors quote names from the authority's certificate.
  const detail = withoutDenseRuns(failure.detail);
  switch (reason) {
    case 'too-large':
      return final(`no timestamp: ${detail}`);
    case 'timed-out':
    case 'connect-timed-out':
      // Final, because the attempt has already waited for a long time.
      return final(detail, true);
    case 'tls-untrusted':
    case 'tls-failed':
      return final(`no TLS connection (${detail})`, true);
    case 'proxy-unauthorized':
      return final(`the proxy requires other credentials (${detail})`, true);
    case 'broken':
      // A second timestamp is harmless, so it does not matter whether the request arrived.
      return transient(`the connection broke (${detail})`, retryAfter);
    default:
      return transient(`it cannot be reached (${detail})`, retryAfter);
  }
}

function transient(reason: string, retryAfter: number | undefined): Classified {
  return { kind: 'transient', failure: { reason, isDown: true }, maxAttempts: MAX_ATTEMPTS, retryAfter };
}

function final(reason: string, isDown = false): Classified {
  return { kind: 'final', failure: { reason, isDown } };
}

/** Rejects as soon as the signal is aborted, unless the task has already started. */
function withinLimit<T>(limit: LimitFunction, task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal?.reason);
    if (signal?.aborted) return leave();
    signal?.addEventListener('abort', leave, { once: true });
    void limit(async () => {
      signal?.removeEventListener('abort', leave);
      if (!signal?.aborted) await task().then(resolve, reject);
    });
  });
}
