/** The answer of the authority (RFC 3161, section 2.4.2): a token, or the reason why there is no token. */

import { BitString, Utf8String } from 'asn1js';
import { type ContentInfo, PKIStatus, PKIStatusInfo, TimeStampResp } from 'pkijs';
import { encode } from '../certificates/x509.ts';
import { FAILURE_BIT, type Failure } from './request.ts';

/** @returns DER */
export function granted(timeStampToken: ContentInfo): Buffer {
  const status = new PKIStatusInfo({ status: PKIStatus.granted });
  return encode(new TimeStampResp({ status, timeStampToken }).toSchema());
}

/** @param message for people @returns DER */
export function rejected(failure: Failure, message: string): Buffer {
  const status = new PKIStatusInfo({
    status: PKIStatus.rejection,
    statusStrings: [new Utf8String({ value: message })],
    failInfo: namedBit(FAILURE_BIT[failure]),
  });
  return encode(new TimeStampResp({ status }).toSchema());
}

/** A BIT STRING with this one bit set, and no bits after it (X.690, 11.2.2). */
function namedBit(bit: number): BitString {
  const valueHex = new Uint8Array(Math.floor(bit / 8) + 1);
  const unusedBits = 7 - (bit % 8);
  valueHex[valueHex.length - 1] = 1 << unusedBits;
  return new BitString({ valueHex, unusedBits });
}
