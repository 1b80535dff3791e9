import pLimit from 'p-limit';
import { toCodesignError } from '../../errors/codesign-error.ts';
import { hasFindingAgainst } from '../../errors/finding.ts';
import type { Claim, KnownCall } from '../../journal/journal.ts';
import type { Stamped, TimestampAuthorities } from '../../timestamp/authorities.ts';
import { readTimestampToken } from '../../timestamp/read-token.ts';
import type { SigningEvent } from '../outcome.ts';
import type { StopSignal } from '../run.ts';

export type Timestamps = ReturnType<typeof requestTimestamps>;

type Call = Pick<KnownCall | Claim, 'known' | 'stamped'>;

/** A token with its certificate chain is 3,000 to 7,000 bytes long. */
const USUAL_LENGTH = 8192;

export interface StampedSignature extends Pick<Stamped, 'token'> {
  readonly time: Date | undefined;
  /** undefined if the timestamp comes from the journal. */
  readonly authority?: string;
}

export function requestTimestamps(
  authorities: TimestampAuthorities | undefined,
  stop: StopSignal,
  onEvent: (event: SigningEvent) => void,
) {
  let probableLength = authorities && USUAL_LENGTH;
  let hasGiven = false;
  /** Limits the requests before the first success. */
  const oneAtATime = pLimit(1);

  /** Returns undefined if no authorities are configured. */
  async function stamp(
    path: string,
    signature: Uint8Array,
    call: Call,
    signal: AbortSignal | undefined,
  ): Promise<Stamped | undefined> {
    if (authorities === undefined) return undefined;
    const request = async (): Promise<Stamped> => {
      if (call.known !== undefined) stop.throwIfStopped();
      onEvent({ type: 'file-step', path, step: 'asking-authority' });
      try {
        const stamped = await authorities.stamp(signature, signal);
        hasGiven = true;
        probableLength = stamped.token.length;
        return stamped;
      } catch (thrown) {
        const error = toCodesignError(thrown);
        stop.stop('no timestamp authority returns a usable timestamp', error);
        throw error;
      }
    };
    return await (hasGiven ? request() : oneAtATime(request));
  }

  return {
    probableLength: () => probableLength,
    stamp,
    /** Returns the timestamp from the journal, or requests one and records it. */
    async stampOnRecord(
      path: string,
      signature: Uint8Array,
      call: Call,
      signal: AbortSignal | undefined,
    ): Promise<StampedSignature | undefined> {
      const token = authorities && call.known?.token;
      if (token !== undefined) {
        const { findings, time } = readTimestampToken(token, signature);
        if (!hasFindingAgainst(findings, 'integrity') && !hasFindingAgainst(findings, 'trust')) return { token, time };
      }
      const stamped = await stamp(path, signature, call, signal);
      if (stamped !== undefined) await call.stamped(stamped.token);
      return stamped;
    },
  };
}

/** Returns the time as ISO 8601 in UTC, without a zero fraction. */
export function isoTime(time: Date): string {
  return time.toISOString().replace('.000Z', 'Z');
}
