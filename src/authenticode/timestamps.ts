/** The timestamps of an Authenticode signature: RFC 3161 tokens, and the countersignatures there were before those. */

import { readCounterSignature } from '../timestamp/read-counter-signature.ts';
import { readTimestampToken } from '../timestamp/read-token.ts';
import type { Timestamp } from '../timestamp/timestamp.ts';
import { COUNTER_SIGNATURE, TIMESTAMP_TYPES } from './object-identifiers.ts';
import type { AuthenticodeParts } from './read-authenticode.ts';

/** None has more than one or two; each costs the checking of its signature. */
const MOST_TIMESTAMPS = 16;

/** All that a signature has, in the order they stand; of an absurd number the first ones. */
export function timestampsOf({ signedData }: AuthenticodeParts): readonly Timestamp[] {
  const { unsignedAttributes, signature } = signedData.signers[0];
  const stamps = unsignedAttributes
    .filter(({ type }) => TIMESTAMP_TYPES.includes(type))
    .flatMap(({ type, values }) => values.map(({ bytes }) => ({ type, bytes })));
  return stamps
    .slice(0, MOST_TIMESTAMPS)
    .map(({ type, bytes }) =>
      type === COUNTER_SIGNATURE
        ? readCounterSignature(bytes, signature, signedData.certificates)
        : readTimestampToken(bytes, signature),
    );
}
