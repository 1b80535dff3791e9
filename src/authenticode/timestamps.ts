/** The timestamps of an Authenticode signature: RFC 3161 tokens, and the countersignatures there were before those. */

import { COUNTER_SIGNATURE } from '../cms/object-identifiers.ts';
import { type ReadTimestamps, timestampReader } from '../timestamp/read-timestamps.ts';
import type { Timestamp } from '../timestamp/timestamp.ts';
import { TIMESTAMP_TYPES } from './object-identifiers.ts';
import type { AuthenticodeParts } from './read-authenticode.ts';

/** All that Windows reads of a signature, in the order they stand; of an absurd number the first ones. `read`: that of the whole file. */
export function timestampsOf(
  { signedData }: AuthenticodeParts,
  read: ReadTimestamps = timestampReader(),
): readonly Timestamp[] {
  const stamps = signedData.signers[0].unsignedAttributes
    .filter(({ type }) => TIMESTAMP_TYPES.includes(type))
    .flatMap(({ type, values }) => {
      const kind = type === COUNTER_SIGNATURE ? 'authenticode' : 'rfc3161';
      return values.map(({ bytes }) => ({ kind, bytes }) as const);
    });
  return read(stamps, signedData);
}
