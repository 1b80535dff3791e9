import { setTimeout as delay } from 'node:timers/promises';

export interface RetryClock {
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<unknown>;
  /** Returns a number from 0 to 1, like Math.random. */
  readonly random: () => number;
}

export const REAL_RETRY_CLOCK: RetryClock = {
  sleep: (milliseconds, signal) => delay(milliseconds, undefined, signal === undefined ? {} : { signal }),
  random: Math.random,
};

export type Attempt<Result, Failure> =
  | { readonly kind: 'done'; readonly result: Result }
  | {
      /** The request had no effect, or a duplicate would be harmless, and the next attempt may succeed. */
      readonly kind: 'transient';
      readonly failure: Failure;
      readonly maxAttempts: number;
      readonly retryAfter?: number | undefined;
    }
  | NotRetried<Failure>;

export interface NotRetried<Failure> {
  /** `final`: the next attempt would also fail. `may-have-arrived`: the request must not take effect twice. */
  readonly kind: 'final' | 'may-have-arrived';
  readonly failure: Failure;
}

export type Retried<Result, Failure> = { readonly attempts: number } & (
  | { readonly result: Result }
  | {
      readonly failure: Failure;
      /** True if another attempt might succeed after a longer wait. */
      readonly mayRecover: boolean;
    }
);

export interface RetryWait {
  readonly milliseconds: number;
  readonly attempt: number;
  readonly maxAttempts: number;
}

export type OnWait = (reason: string, wait: RetryWait) => void;

export interface RetryOptions<Result, Failure> {
  attempt(number: number): Promise<Attempt<Result, Failure>>;
  readonly clock: RetryClock;
  /**
   * Aborting the signal ends a wait: `retry` then rejects with the error of `sleep`. Aborting the signal does not end
   * an attempt that is running.
   */
  readonly signal?: AbortSignal | undefined;
  readonly budget?: number | undefined;
  readonly longestWait?: number | undefined;
  /** Awaited before each wait. If the callback throws, there is no further attempt. */
  readonly beforeRetry?: ((failure: Failure) => Promise<void>) | undefined;
  readonly onWait?: ((failure: Failure, wait: RetryWait) => void) | undefined;
}

export async function retry<Result, Failure>(
  options: RetryOptions<Result, Failure>,
): Promise<Retried<Result, Failure>> {
  const { clock, signal, budget = Number.POSITIVE_INFINITY, longestWait = Number.POSITIVE_INFINITY } = options;
  let waited = 0;
  for (let attempts = 1; ; attempts += 1) {
    const tried = await options.attempt(attempts);
    if (tried.kind === 'done') return { result: tried.result, attempts };
    const { failure } = tried;
    if (tried.kind !== 'transient' || attempts >= tried.maxAttempts) return { failure, attempts, mayRecover: false };
    const wait = waitAfter(attempts, clock.random(), tried.retryAfter);
    waited += wait;
    if (wait > longestWait || waited > budget) return { failure, attempts, mayRecover: true };
    await options.beforeRetry?.(failure);
    options.onWait?.(failure, { milliseconds: wait, attempt: attempts + 1, maxAttempts: tried.maxAttempts });
    await clock.sleep(wait, signal);
  }
}

const FIRST_WAIT = 500;
const LONGEST_BACK_OFF = 8_000;
export const LONGEST_WAIT = 60_000;
/** Limit on the random time that is added to each Retry-After, so that waiting requests start at different times. */
const SPREAD = 250;

/** Milliseconds to wait after the given number of attempts. */
export function waitAfter(attempts: number, random: number, retryAfter?: number): number {
  if (retryAfter !== undefined) return Math.min(retryAfter + random * SPREAD, LONGEST_WAIT);
  const backOff = Math.min(FIRST_WAIT * 2 ** (attempts - 1), LONGEST_BACK_OFF);
  return backOff * (0.5 + random / 2);
}

/** Commas separate the values of several headers, except the comma after a weekday. */
const VALUES = /\s*[A-Za-z]{3,9}, \d[^,]*[A-Za-z][^,]*|[^,]+/g;

/**
 * Reads the joined values of the Retry-After headers (RFC 9110, section 10.2.3), which contain seconds or a date. Returns
 * the longest wait in milliseconds; undefined if no value is readable.
 */
export function readRetryAfter(header: string | undefined, now: number): number | undefined {
  const waits = (header?.match(VALUES) ?? []).map((value) => readOne(value.trim(), now));
  return waits.reduce((longest, wait) => (wait === undefined ? longest : Math.max(longest ?? 0, wait)), undefined);
}

function readOne(text: string, now: number): number | undefined {
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  // Date.parse would read "-5" as a year.
  const date = /^[A-Za-z]{3,9},? .*\d{2}:\d{2}:\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
