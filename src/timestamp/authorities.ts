/** Tries the authorities in the user's order, and uses the first valid timestamp. */

import type { SignedContent } from '../cms/verify-signer.ts';
import { REAL_RETRY_CLOCK, type RetryClock } from '../http/retry.ts';
import { type Authority, type AuthorityOptions, createAuthority, type Received } from './authority.ts';
import { timestampErrors } from './errors.ts';

export interface Stamped {
  readonly token: Uint8Array;
  readonly time: Date;
  /** Address without user name, password or query. */
  readonly authority: string;
}

export interface TimestampAuthoritiesOptions extends Omit<AuthorityOptions, 'url' | 'concurrency' | 'clock'> {
  readonly urls: readonly URL[];
  readonly concurrency?: number | undefined;
  readonly clock?: RetryClock | undefined;
}

/** Some authorities allow one request in a second or two. */
const USUAL_CONCURRENCY = 2;

export type TimestampAuthorities = ReturnType<typeof createTimestampAuthorities>;

export function createTimestampAuthorities(options: TimestampAuthoritiesOptions) {
  const { urls, concurrency = USUAL_CONCURRENCY, clock = REAL_RETRY_CLOCK } = options;
  const authorities = urls.map((url) => createAuthority({ ...options, url, concurrency, clock }));
  return {
    /** Returns a checked token. Aborting the signal ends all requests and waits. */
    async stamp(signatureValue: SignedContent, signal?: AbortSignal): Promise<Stamped> {
      const untried = new Set(authorities);
      // Tried again if no other authority returns a timestamp.
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

/** An authority that has just failed for another file would use up its timeout. */
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
