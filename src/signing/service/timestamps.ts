/** Asking for the timestamp of a signature that is there: one that cannot be had stops the run, before more is spent. */

import { type CodesignError, toCodesignError } from '../../errors/codesign-error.ts';
import type { Stamped, TimestampAuthorities } from '../../timestamp/authorities.ts';
import type { Batch } from '../batch.ts';

export interface RequestTimestamp {
  /**
   * Runs the work of one file, which asks for a signature and its timestamp: one file after the other until a timestamp has
   * been had, for as long each signature may be in vain; from then on at once.
   */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
  /** Of the signature value. Throws `timestamp-failed`. */
  stamp(signature: Uint8Array): Promise<Stamped>;
  /** How many bytes the next token will probably have. */
  probableLength(): number;
}

/** Tokens with their chain have 3,000 to 7,000 bytes. */
const USUAL_LENGTH = 8192;

/**
 * Undefined for signatures without a timestamp. Not even an interruption ends the asking: the signature has been paid for,
 * and the waits between attempts are bounded.
 */
export function requestTimestamps(
  authorities: TimestampAuthorities | undefined,
  batch: Batch,
): RequestTimestamp | undefined {
  if (authorities === undefined) return undefined;
  let lastLength: number | undefined;
  let turn: Promise<unknown> = Promise.resolve();
  const isProven = (): boolean => lastLength !== undefined;
  return {
    async inTurn(work) {
      while (!isProven()) {
        const mine = turn.then(async () => (isProven() ? undefined : { result: await work() }));
        turn = mine.catch(() => undefined);
        const done = await mine;
        if (done !== undefined) return done.result;
      }
      return work();
    },
    async stamp(signature) {
      try {
        const stamped = await authorities.stamp(signature);
        lastLength = stamped.token.length;
        return stamped;
      } catch (thrown) {
        const error: CodesignError = toCodesignError(thrown);
        batch.stop('no time stamp authority gives a usable timestamp', error);
        throw error;
      }
    },
    probableLength: () => lastLength ?? USUAL_LENGTH,
  };
}
