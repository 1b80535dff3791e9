/** Time stamp authorities in the order the user gives: the first usable timestamp is taken. */

import type { SignedContent } from '../cms/verify-signer.ts';
import { REAL_RETRY_CLOCK, type RetryClock } from '../http/retry.ts';
import { type Authority, type AuthorityOptions, createAuthority, type Received } from './authority.ts';
import { timestampErrors } from './errors.ts';

export interface Stamped {
  /** The ContentInfo, DER. */
  readonly token: Uint8Array;
  /** genTime. */
  readonly time: Date;
  /** Address of the authority, for people: without user information and query. */
  readonly authority: string;
}

export interface TimestampAuthoritiesOptions extends Omit<AuthorityOptions, 'url' | 'concurrency' | 'clock'> {
  /** One at least. */
  readonly urls: readonly URL[];
  /** Concurrent requests to one authority. */
  readonly concurrency?: number | undefined;
  readonly clock?: RetryClock | undefined;
}

/** Authorities limit the rate of requests, some of them to one in a second or two. */
const USUAL_CONCURRENCY = 2;

export type TimestampAuthorities = ReturnType<typeof createTimestampAuthorities>;

export function createTimestampAuthorities(options: TimestampAuthoritiesOptions) {
  const { urls, concurrency = USUAL_CONCURRENCY, clock = REAL_RETRY_CLOCK } = options;
  const authorities = urls.map((url) => createAuthority({ ...options, url, concurrency, clock }));
  return {
    /**
     * A checked token for a signature value, or for other content by its digest (by the algorithm of `options`). When the signal
     * aborts, requests and waits end.
     * Throws `timestamp-failed`, `timestamp-interrupted`.
     */
    async stamp(signatureValue: SignedContent, signal?: AbortSignal): Promise<Stamped> {
      const untried = new Set(authorities);
      // They want a long wait, and are asked again if no other gives a timestamp.
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

/** Those that have just failed for another file come last: they would cost this one their whole time-out again. */
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
