/** Changes of one bit, each in another part of a timestamp token and of the signature around it. */

import { TIMESTAMP_TOKEN } from '../../../src/asn1/object-identifiers.ts';
import { attributeValues, parseSignedData } from '../../../src/cms/parse-signed-data.ts';
import { replaceUnsignedAttributes } from '../../../src/cms/unsigned-attributes.ts';
import { flipped } from '../../support/flipped.ts';

const TST_INFO = Buffer.from('060b2a864886f70d0109100104', 'hex');
const SIGNING_TIME = Buffer.from('06092a864886f70d010905', 'hex');
export const MESSAGE_DIGEST = Buffer.from('06092a864886f70d010904', 'hex');
const SHA256_OCTETS = Buffer.from('0420', 'hex');
/** Or sha256WithRSAEncryption, except for its last octet. */
export const RSA_ENCRYPTION = Buffer.from('06092a864886f70d0101', 'hex');
/** Down to whole seconds, in this century. */
const GENERALIZED_TIME = Buffer.from('180f3230', 'hex');
/** extendedKeyUsage with timeStamping alone. */
const TIME_STAMPING = Buffer.from('300a06082b06010505070308', 'hex');

/** Where `pattern` ends; the first one from `from` on. Throws if there is none. */
export function offsetBehind(bytes: Buffer, pattern: Buffer, from = 0): number {
  const at = bytes.indexOf(pattern, from);
  if (at < 0) throw new Error(`there is no ${pattern.toString('hex')} from byte ${from} on`);
  return at + pattern.length;
}

/** By name. `bytes` hold a signature with one RFC 3161 token, which makes its end. */
export function tokenChanges(bytes: Buffer): ReadonlyMap<string, Buffer> {
  const info = offsetBehind(bytes, TST_INFO);
  const time = offsetBehind(bytes, GENERALIZED_TIME, offsetBehind(bytes, SHA256_OCTETS, info) + 32);
  const signer = offsetBehind(bytes, MESSAGE_DIGEST, bytes.indexOf(TIME_STAMPING));
  return new Map([
    ['token-imprint', flipped(bytes, offsetBehind(bytes, SHA256_OCTETS, info) + 5)],
    ['token-time', flipped(bytes, time + 11)],
    ['token-certificate', flipped(bytes, bytes.indexOf(TIME_STAMPING) - 40)],
    ['token-purpose', flipped(bytes, offsetBehind(bytes, TIME_STAMPING) - 1)],
    ['token-digest', flipped(bytes, offsetBehind(bytes, SHA256_OCTETS, signer) + 5)],
    ['token-signing-time', flipped(bytes, bytes.lastIndexOf(SIGNING_TIME) + SIGNING_TIME.length + 15)],
    ['token-signature', flipped(bytes, trimmedLength(bytes) - 40)],
    ['token-signature-algorithm', flipped(bytes, bytes.lastIndexOf(RSA_ENCRYPTION) + RSA_ENCRYPTION.length - 3)],
  ]);
}

/** The first signature with the second one's token instead of its own. */
export function withTokenOf(signature: Buffer, another: Buffer): Buffer {
  const [token] = attributeValues(parseSignedData(another).signers[0].unsignedAttributes, TIMESTAMP_TOKEN);
  if (token === undefined) throw new Error('there is no token');
  const attribute = { type: TIMESTAMP_TOKEN, value: token.bytes };
  return Buffer.from(replaceUnsignedAttributes(signature, attribute, [TIMESTAMP_TOKEN]));
}

function trimmedLength(bytes: Buffer): number {
  let length = bytes.length;
  while (length > 0 && bytes[length - 1] === 0) length -= 1;
  return length;
}
