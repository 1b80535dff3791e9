/** Changes of one bit, each in another part of a timestamp token and of the signature around it. */

import { encode } from '../../../src/asn1/write.ts';
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

/** The attribute of CMS for RFC 3161 tokens. */
const TOKEN_ATTRIBUTE = Buffer.from('060b2a864886f70d010910020e', 'hex');

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

/** The first signature with the second one's token instead of its own, all lengths put right. */
export function withTokenOf(signature: Buffer, another: Buffer): Buffer {
  const [own, others] = [signature, another].map(tokenIn);
  if (own === undefined || others === undefined) throw new Error('there is no token');
  return rebuilt(signature, own, others);
}

/** The whole ContentInfo, which stands in a SET after the attribute's type. */
function tokenIn(signature: Buffer): Buffer {
  const set = offsetBehind(signature, TOKEN_ATTRIBUTE);
  return elementAt(signature, elementAt(signature, set).contents).bytes;
}

interface ElementBytes {
  readonly bytes: Buffer;
  /** Where its contents begin, in what holds it. */
  readonly contents: number;
}

function elementAt(holder: Buffer, offset: number): ElementBytes {
  const first = holder.readUInt8(offset + 1);
  const more = first < 0x80 ? 0 : first & 0x7f;
  const length = more === 0 ? first : holder.readUIntBE(offset + 2, more);
  const contents = offset + 2 + more;
  return { bytes: holder.subarray(offset, contents + length), contents };
}

/** The element with the part that `old` is, a view into it, replaced. */
function rebuilt(element: Buffer, old: Buffer, replacement: Buffer): Buffer {
  const from = old.byteOffset - element.byteOffset;
  if (from === 0 && old.length === element.length) return replacement;
  if (from < 0 || from >= element.length) return element;
  const { contents } = elementAt(element, 0);
  const children: Buffer[] = [];
  for (let at = contents; at < element.length; ) {
    const { bytes } = elementAt(element, at);
    children.push(rebuilt(bytes, old, replacement));
    at += bytes.length;
  }
  return Buffer.from(encode(element.readUInt8(0), ...children));
}

function trimmedLength(bytes: Buffer): number {
  let length = bytes.length;
  while (length > 0 && bytes[length - 1] === 0) length -= 1;
  return length;
}
