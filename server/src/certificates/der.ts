/** DER (X.690, section 10) over asn1js: what certificates and timestamps share. */

import {
  Set as Asn1Set,
  type BaseBlock,
  Constructed,
  fromBER,
  GeneralizedTime,
  ObjectIdentifier,
  Primitive,
  UTCTime,
} from 'asn1js';

export function encode(block: BaseBlock): Buffer {
  return Buffer.from(block.toBER());
}

/** The value as a tree. It must be whole: it is our own, or was parsed before. */
export function parse(der: Uint8Array): BaseBlock {
  return fromBER(exact(der)).result;
}

/** The same to be put into another, its contents unread: taking a chain apart and encoding it again takes milliseconds. */
export function encoded(der: Uint8Array): BaseBlock {
  const [tag = 0, length = 0] = der; // none of ours has a tag of several bytes
  const contents = der.subarray(length < 0x80 ? 2 : 2 + (length & 0x7f));
  const idBlock = { tagClass: (tag >> 6) + 1, tagNumber: tag & 0x1f };
  const block = new Primitive({ idBlock, valueHex: exact(contents) });
  block.idBlock.isConstructed = (tag & 0x20) !== 0;
  return block;
}

export function objectIdentifier(value: string): ObjectIdentifier {
  return new ObjectIdentifier({ value });
}

/** `[n] EXPLICIT`. */
export function explicit(tagNumber: number, ...value: readonly BaseBlock[]): Constructed {
  return constructed(tagNumber, value);
}

function constructed(tagNumber: number, value: readonly BaseBlock[]): Constructed {
  return new Constructed({ idBlock: { tagClass: 3, tagNumber }, value: [...value] });
}

/** `[n] IMPLICIT` of a type whose contents are bytes. */
export function contextPrimitive(tagNumber: number, value: Uint8Array): Primitive {
  return new Primitive({ idBlock: { tagClass: 3, tagNumber }, valueHex: exact(value) });
}

/** SET OF, its members in the order of their encodings (X.690, 11.6). */
export function setOf(members: readonly BaseBlock[]): Asn1Set {
  return new Asn1Set({ value: inOrder(members) });
}

/** `[n] IMPLICIT` of the same. */
export function implicitSetOf(tagNumber: number, members: readonly BaseBlock[]): Constructed {
  return constructed(tagNumber, inOrder(members));
}

function inOrder(members: readonly BaseBlock[]): BaseBlock[] {
  return members
    .map((member) => ({ member, bytes: encode(member) }))
    .sort((one, other) => Buffer.compare(one.bytes, other.bytes))
    .map(({ member }) => member);
}

/** UTCTime up to 2049, GeneralizedTime from 2050 (RFC 5280, 4.1.2.5; RFC 5652, 11.3); whole seconds. */
export function time(date: Date): UTCTime | GeneralizedTime {
  return date.getUTCFullYear() < 2050 ? new UTCTime({ valueDate: wholeSeconds(date) }) : generalizedTime(date);
}

/** Whole seconds, so that there is no fraction whose trailing zeros DER forbids. */
export function generalizedTime(date: Date): GeneralizedTime {
  return new GeneralizedTime({ valueDate: wholeSeconds(date) });
}

function wholeSeconds(date: Date): Date {
  return new Date(Math.floor(date.getTime() / 1000) * 1000);
}

/** The bytes in an ArrayBuffer of exactly their length: asn1js takes the whole buffer behind a view. */
export function exact(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}
