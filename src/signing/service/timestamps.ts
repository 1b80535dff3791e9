import { toCodesignError } from '../../errors/codesign-error.ts';
import type { Stamped, TimestampAuthorities } from '../../timestamp/authorities.ts';
import type { SigningEvent } from '../outcome.ts';
import type { StopSignal } from '../run.ts';
import type { RequestTurns } from './request-turns.ts';

export type Timestamps = ReturnType<typeof requestTimestamps>;

/** Tokens with their chain have 3,000 to 7,000 bytes. */
const USUAL_LENGTH = 8192;

/** An interruption does not end a request either: the signature is paid for, and the waits between attempts are bounded. */
export function requestTimestamps(
  authorities: TimestampAuthorities | undefined,
  turns: RequestTurns,
  stop: StopSignal,
  onEvent: (event: SigningEvent) => void,
) {
  let probableLength = authorities && USUAL_LENGTH;
  return {
    /** Whether signatures get one. */
    areWanted: authorities !== undefined,
    /** How many bytes the next token will probably have. */
    probableLength: () => probableLength,
    /** Of the signature value; undefined for signatures without a timestamp. Throws `timestamp-failed`. */
    async stamp(path: string, signature: Uint8Array): Promise<Stamped | undefined> {
      if (authorities === undefined) return undefined;
      onEvent({ type: 'file-step', path, step: 'asking-authority' });
      try {
        const stamped = await authorities.stamp(signature);
        probableLength = stamped.token.length;
        turns.proveTimestamps();
        return stamped;
      } catch (thrown) {
        const error = toCodesignError(thrown);
        stop.stop('no timestamp authority returns a usable timestamp', error);
        throw error;
      }
    },
  };
}

/** ISO 8601 in UTC, without a fraction of zero. */
export function isoTime(time: Date): string {
  return time.toISOString().replace('.000Z', 'Z');
}
