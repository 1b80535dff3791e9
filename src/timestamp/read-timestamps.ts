import { cmsErrors } from '../cms/errors.ts';
import type { SignedData } from '../cms/parse-signed-data.ts';
import type { WorkBudget } from '../crypto/work-budget.ts';
import { readCounterSignature } from './read-counter-signature.ts';
import { readTimestampToken, unreadableTimestamp } from './read-token.ts';
import type { Timestamp } from './timestamp.ts';

export type Stamp = Pick<Timestamp, 'kind' | 'bytes'>;

/** Returns timestamps in their order, up to a limit. */
export type ReadTimestamps = (stamps: readonly Stamp[], signedData: SignedData) => readonly Timestamp[];

/** Most signatures have one or two. */
const MOST_OF_ONE = 16;
/** Cost of all timestamps in a file: a valid one costs about six. */
const MOST_IN_ALL = 300;
const KIB = 1024;

/** When the limit is used up, further timestamps are reported as unreadable. */
export function timestampReader(budget?: WorkBudget): ReadTimestamps {
  let room = MOST_IN_ALL;
  const read = ({ kind, bytes }: Stamp, { signers, certificates }: SignedData): Timestamp => {
    if (room <= 0) {
      const what = 'timestamps and certificates of theirs in all';
      return unreadableTimestamp(kind, bytes, cmsErrors('cms-too-large', { limit: MOST_IN_ALL, what }));
    }
    const [{ signature }] = signers;
    const timestamp =
      kind === 'authenticode'
        ? readCounterSignature(bytes, signature, certificates, budget)
        : readTimestampToken(bytes, signature, budget);
    // The certificates of unreadable timestamps have been read too.
    room -= 1 + Math.max(timestamp.certificates.length, Math.floor(bytes.length / KIB));
    return timestamp;
  };
  return (stamps, signedData) => stamps.slice(0, MOST_OF_ONE).map((stamp) => read(stamp, signedData));
}
