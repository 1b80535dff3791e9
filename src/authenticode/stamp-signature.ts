/** Giving a finished Authenticode signature, and those nested in it, a timestamp in the place of those they have. */

import { parts } from '../asn1/read.ts';
import {
  changeUnsignedAttributes,
  replaceUnsignedAttributes,
  type UnsignedAttribute,
  withValues,
} from '../cms/unsigned-attributes.ts';
import { isInDerOrder } from './examine-authenticode.ts';
import {
  SPC_NESTED_SIGNATURE,
  SPC_RFC3161_TIMESTAMP,
  TIMESTAMP_TYPES,
  UNREAD_TIMESTAMP_TYPES,
} from './object-identifiers.ts';

/** `cms` with the RFC 3161 token (a ContentInfo, DER) for its only timestamp. */
export function stampSignature(cms: Uint8Array, token: Uint8Array): Uint8Array {
  const instead = [...TIMESTAMP_TYPES, ...UNREAD_TIMESTAMP_TYPES];
  return replaceUnsignedAttributes(cms, { type: SPC_RFC3161_TIMESTAMP, value: token }, instead);
}

/** `cms` with the signatures nested in it exchanged, in the order in which they stand; the others keep their places. */
export function exchangeNested(
  cms: Uint8Array,
  exchange: (nested: Uint8Array, index: number) => Uint8Array,
): Uint8Array {
  let index = 0;
  const exchanged = (attribute: UnsignedAttribute): Uint8Array => {
    const before = parts(attribute.values, 'nested signatures').map(({ bytes }) => bytes);
    return withValues(
      attribute,
      orderedAs(
        before,
        before.map((bytes) => exchange(bytes, index++)),
      ),
    );
  };
  return changeUnsignedAttributes(cms, (attributes) =>
    orderedAs(
      attributes.map(({ element }) => element.bytes),
      attributes.map((each) => (each.type === SPC_NESTED_SIGNATURE ? exchanged(each) : each.element.bytes)),
    ),
  );
}

/** In DER order if they were before; otherwise in the order they are given. */
function orderedAs(before: readonly Uint8Array[], after: readonly Uint8Array[]): readonly Uint8Array[] {
  return isInDerOrder(before) ? after.toSorted(Buffer.compare) : after;
}
