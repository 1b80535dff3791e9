/**
 * Changes of the parts of an ASN.1 structure: those after which all lengths are right again, those that lie about one
 * length and keep the ones round it right, and other ways to write the same.
 */

import { type Element, readElement } from '../../../src/asn1/read.ts';
import { encode, encodeAll, objectIdentifier } from '../../../src/asn1/write.ts';
import { mutateBytes, randomBytes } from './bytes.ts';
import { choose, once, pick, type Random } from './random.ts';

interface Node {
  readonly tag: number;
  /** Octets before the parts: of a BIT STRING that holds a structure. */
  readonly lead: Uint8Array;
  readonly contents: Uint8Array;
  /** Undefined for contents that are no elements. */
  readonly parts: readonly Node[] | undefined;
}

/** Nested parts: what one change has nested deeply is one part for the next change. */
const DEEPEST = 60;
/** A case that one change makes larger takes the memory for its own copies: such sizes are for the tests of hostile files. */
const LARGEST_CASE = 2 * 1024 * 1024;

/** Several changes, most often one. */
export function mutateDer(der: Uint8Array, random: Random): Buffer {
  let changed: Buffer = Buffer.from(der);
  for (let left = 1 + (once(random, 3) ? random(4) : 0); left > 0; left -= 1) {
    const next = once(random, 6) ? mutateBytes(changed, random) : mutateStructure(changed, random);
    if (next.length > LARGEST_CASE) break;
    changed = next;
    if (changed.length > LARGEST_CASE / 2) break;
  }
  return changed;
}

/** One part of the structure changed, doubled, taken out, moved or put in another's place. Some bytes when it is none. */
function mutateStructure(der: Uint8Array, random: Random): Buffer {
  const [root] = elementsIn(der, 1) ?? [];
  if (root === undefined) return mutateBytes(der, random);
  const tree = nodeOf(root, 0);
  const all = flatten(tree);
  const target = pick(random, all);
  const encoded = encodeNode(tree, target, replacementOf(target, pick(random, all), random));
  return encoded.length === 0 ? Buffer.from(der) : Buffer.concat([encoded, der.subarray(root.bytes.length)]);
}

/** Returns the encoded nodes that replace the node. */
function replacementOf(node: Node, other: Node, random: Random): readonly Uint8Array[] {
  const { tag, parts } = node;
  const [whole, another, inside] = [encodeNode(node), encodeNode(other), insideOf(node)];
  // As many as a case may hold; more would only be made to be thrown away.
  const most = Math.max(2, Math.floor(LARGEST_CASE / whole.length));
  return choose<readonly Uint8Array[]>(random, 18, [
    () => [],
    () => Array.from({ length: Math.min(once(random, 10) ? random(3000) : 2, most) }, () => whole),
    () => [another],
    () => (once(random, 2) ? [whole, another] : [another, whole]),
    () => [encode(once(random, 3) ? random(256) : tag ^ (1 << random(8)), inside)],
    () => [
      encodeAll(
        tag,
        (parts ?? []).toReversed().map((part) => encodeNode(part)),
      ),
    ],
    () => [inside],
    () => [withLength(tag, 6, pick(random, lyingLengths(inside.length)), inside)],
    () => [withLength(tag, 1 + random(8), inside.length, inside)],
    () => [indefinite(tag, inside, once(random, 8) ? 1 + random(60) : 1)],
    () => [deep(whole, once(random, 4) ? random(2000) : random(50), random)],
    () => [encode(tag, inside, randomBytes(random, once(random, 10) ? random(20_000) : 1 + random(8)))],
    () => [encodeAll(0x24, pieces(inside, random))],
    () => [encode(tag, parts === undefined ? oddContents(tag, inside, random) : mutateBytes(inside, random))],
  ]);
}

const ODD_IDENTIFIERS =
  '1.2.840.113549.1.7.1 1.2.840.113549.1.7.2 1.2.840.113549.1.7.6 1.2.840.113549.2.5 1.3.14.3.2.26 ' +
  '2.16.840.1.101.3.4.2.1 2.16.840.1.101.3.4.2.3 2.16.840.1.101.3.4.2.8 2.16.840.1.101.3.4.2.11 ' +
  '1.2.840.113549.1.1.1 1.2.840.113549.1.1.10 1.2.840.113549.1.1.11 1.2.840.10045.4.3.2 1.3.101.112 ' +
  '1.2.840.113549.1.9.3 1.2.840.113549.1.9.4 1.2.840.113549.1.9.5 1.2.840.113549.1.9.6 ' +
  '1.2.840.113549.1.9.16.2.14 1.3.6.1.4.1.311.2.4.1 1.3.6.1.4.1.311.3.3.1 ' +
  '2.5.29.15 2.5.29.19 2.5.29.30 2.5.29.37 2.5.29.31';
const ODD_TIMES = [
  ...['', '0', 'Z', '000000000000Z', '991332250000Z', '230229000000Z', '2401010000Z', '20241301000000Z'],
  ...['99991231235959Z', '00000101000000Z', '20240101000060Z', '20240101000000.5Z', '20240101000000+0100'],
  '20240101000000.123456789012345678901234567890Z',
];
const ODD_STRINGS = ['', '\0', 'a\0b', '\ud800', 'http://[', '*.example.com', '\u202e', 'x'.repeat(5000)];
const ODD_BOOLEANS = [[], [0], [1], [0xff], [0xff, 0xff]];
const ODD_INTEGERS = [[], [0], [0xff], [0x7f, 0xff, 0xff, 0xff], [0x80, 0, 0, 0], Buffer.alloc(9, 0xff)];

/** Odd for its type. */
function oddContents(tag: number, bytes: Uint8Array, random: Random): Uint8Array {
  if (once(random, 3)) return mutateBytes(bytes, random);
  switch (tag) {
    case 0x01:
      return Uint8Array.from(pick(random, ODD_BOOLEANS));
    case 0x02:
    case 0x0a: {
      const padded = Buffer.concat([Buffer.alloc(1 + random(20)), bytes]);
      return Uint8Array.from(pick(random, [...ODD_INTEGERS, padded, randomBytes(random, 1 + random(40))]));
    }
    case 0x03:
      return Buffer.concat([Uint8Array.of(random(256)), bytes.subarray(1)]);
    case 0x06:
      if (once(random, 4)) return Buffer.concat([bytes, Buffer.alloc(random(80), 0xff), Uint8Array.of(0x7f)]);
      return objectIdentifier(pick(random, ODD_IDENTIFIERS.split(' '))).subarray(2);
    case 0x17:
    case 0x18:
      return Buffer.from(pick(random, ODD_TIMES));
    case 0x1e:
      return Buffer.concat([bytes, Uint8Array.of(0xd8)]);
    case 0x0c:
    case 0x13:
    case 0x16:
      return Buffer.from(pick(random, ODD_STRINGS));
    default:
      return mutateBytes(bytes, random);
  }
}

function lyingLengths(length: number): readonly number[] {
  return [0, Math.max(0, length - 1), length + 1, length + 1000, 0xffff, 0x7fff_ffff, 2 ** 40, 2 ** 47];
}

/** With this length in so many octets, whatever the contents are. */
function withLength(tag: number, octets: number, length: number, contents: Uint8Array): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(length));
  return Buffer.concat([Uint8Array.of(tag, 0x80 | octets), bytes.subarray(8 - octets), contents]);
}

function indefinite(tag: number, contents: Uint8Array, depth: number): Uint8Array {
  const open = Buffer.alloc(2 * depth, Uint8Array.of(tag | 0x20, 0x80));
  return Buffer.concat([open, contents, Buffer.alloc(2 * depth)]);
}

function deep(whole: Uint8Array, depth: number, random: Random): Uint8Array {
  const tag = pick(random, [0x30, 0x31, 0xa0, 0x24]);
  if (once(random, 3)) return indefinite(tag, whole, depth);
  const headers: Uint8Array[] = [];
  let { length } = whole;
  for (let level = 0; level < depth; level += 1) {
    const header = length < 0x80 ? Uint8Array.of(tag, length) : withLength(tag, 3, length, new Uint8Array());
    headers.push(header);
    length += header.length;
  }
  return Buffer.concat([...headers.reverse(), whole]);
}

function pieces(contents: Uint8Array, random: Random): Uint8Array[] {
  const size = 1 + random(Math.max(1, contents.length));
  const count = Math.min(50, Math.ceil(contents.length / size));
  return Array.from({ length: count }, (_, index) =>
    encode(0x04, contents.subarray(index * size, index === count - 1 ? undefined : (index + 1) * size)),
  );
}

/** The first elements, or all of them; undefined where something else stands. */
function elementsIn(bytes: Uint8Array, most = Number.POSITIVE_INFINITY): readonly Element[] | undefined {
  const found: Element[] = [];
  try {
    for (let at = 0; at < bytes.length && found.length < most; ) {
      const element = readElement(bytes.subarray(at), 'it');
      found.push(element);
      at += element.bytes.length;
    }
    return found;
  } catch {
    return undefined;
  }
}

/** Structures in OCTET STRINGs and BIT STRINGs are looked for, too. */
function nodeOf({ tag, contents }: Element, depth: number): Node {
  const lead = contents.subarray(0, tag === 0x03 ? 1 : 0);
  const isWrapping = (tag === 0x03 || tag === 0x04) && contents[lead.length] === 0x30;
  const mayHaveParts = depth < DEEPEST && ((tag & 0x20) !== 0 || isWrapping);
  const elements = mayHaveParts ? elementsIn(contents.subarray(lead.length)) : undefined;
  return { tag, lead, contents, parts: elements?.map((element) => nodeOf(element, depth + 1)) };
}

function flatten(node: Node): Node[] {
  return [node, ...(node.parts ?? []).flatMap(flatten)];
}

function encodeNode(node: Node, target?: Node, replacement: readonly Uint8Array[] = []): Uint8Array {
  if (node === target) return Buffer.concat(replacement);
  return encode(node.tag, insideOf(node, target, replacement));
}

function insideOf({ lead, contents, parts }: Node, target?: Node, replacement?: readonly Uint8Array[]): Uint8Array {
  if (parts === undefined) return contents;
  return Buffer.concat([lead, ...parts.map((part) => encodeNode(part, target, replacement))]);
}
