/** The answer of the authority (RFC 3161, section 2.4.2): a token, or why there is none. */

import { BitString, Integer, Sequence, Utf8String } from 'asn1js';
import { encode, encoded, exact } from '../certificates/der.ts';
import { FAILURE_BIT, type Failure } from './request.ts';

const GRANTED = 0;
const REJECTION = 2;

/** @param token DER */
export function granted(token: Uint8Array): Buffer {
  const status = new Sequence({ value: [new Integer({ value: GRANTED })] });
  return encode(new Sequence({ value: [status, encoded(token)] }));
}

/** @param message for people */
export function rejected(failure: Failure, message: string): Buffer {
  const status = new Sequence({
    value: [
      new Integer({ value: REJECTION }),
      new Sequence({ value: [new Utf8String({ value: message })] }),
      namedBit(FAILURE_BIT[failure]),
    ],
  });
  return encode(new Sequence({ value: [status] }));
}

/** A BIT STRING with this one bit set, and no bits after it (X.690, 11.2.2). */
function namedBit(bit: number): BitString {
  const bytes = new Uint8Array(Math.floor(bit / 8) + 1);
  const unusedBits = 7 - (bit % 8);
  bytes[bytes.length - 1] = 1 << unusedBits;
  return new BitString({ valueHex: exact(bytes), unusedBits });
}
