/**
 * Changes of the parts of an ASN.1 structure: those after which all lengths are right again, those that lie about one
 * length and keep the ones round it right, and other ways to write the same.
 */

import { objectIdentifier } from '../../../src/asn1/write.ts';
import { mutateBytes, randomBytes } from './bytes.ts';
import { once, pick, type Random } from './random.ts';

/** Undefined: the element is passed over when lengths are written again. */
interface Node {
  readonly tag: number;
  /** Octets before the parts: of a BIT STRING that holds a structure. */
  readonly lead: Uint8Array;
  readonly contents: Uint8Array | readonly Node[];
}

/** One part of the structure changed, doubled, taken out, moved or put in another's place. Some bytes when it is none. */
export function mutateStructure(der: Uint8Array, random: Random): Buffer {
  const root = nodeAt(der, 0);
  if (root === undefined) return mutateBytes(der, random);
  const all = flatten(root.node);
  // Rather the small ones: the large ones are few, and most of what they hold is other certificates.
  const target = pick(random, all);
  const replacement = changeOf(target, pick(random, all), random);
  const encoded = encodeNode(root.node, target, replacement);
  const rest = der.subarray(root.end);
  return encoded.length === 0 ? Buffer.from(der) : Buffer.concat([encoded, rest]);
}

/** What stands instead of a node, encoded. */
function changeOf(node: Node, other: Node, random: Random): readonly Uint8Array[] {
  const whole = encodeWhole(node);
  const { tag, contents } = node;
  const inside = contentsOf(node);
  switch (random(18)) {
    case 0:
      return [];
    case 1:
      return repeated(whole, once(random, 10) ? random(3000) : 2);
    case 2:
      return [encodeWhole(other)];
    case 3:
      return once(random, 2) ? [whole, encodeWhole(other)] : [encodeWhole(other), whole];
    case 4:
      return [encode(once(random, 3) ? random(256) : tag ^ (1 << random(8)), inside)];
    case 5:
      return [encode(tag, isParts(contents) ? concat(contents.toReversed().map(encodeWhole)) : new Uint8Array())];
    case 6:
      return [inside];
    case 7:
      return [lying(tag, inside, random)];
    case 8:
      return [longForm(tag, inside, random)];
    case 9:
      return [indefinite(tag, inside, once(random, 8) ? 1 + random(60) : 1)];
    case 10:
      return [deep(whole, once(random, 4) ? random(2000) : random(50), random)];
    case 11:
      return [encode(tag, inside, randomBytes(random, once(random, 10) ? random(20_000) : 1 + random(8)))];
    case 12:
      return [encode(0x24, ...pieces(inside, random))];
    default:
      if (isParts(contents)) return [encode(tag, mutateBytes(inside, random))];
      return [encode(tag, oddContents(node, random))];
  }
}

const ODD_IDENTIFIERS = [
  '1.2.840.113549.1.7.1',
  '1.2.840.113549.1.7.2',
  '1.2.840.113549.1.7.6',
  '1.2.840.113549.2.5',
  '1.3.14.3.2.26',
  '2.16.840.1.101.3.4.2.1',
  '2.16.840.1.101.3.4.2.3',
  '2.16.840.1.101.3.4.2.8',
  '2.16.840.1.101.3.4.2.11',
  '1.2.840.113549.1.1.1',
  '1.2.840.113549.1.1.10',
  '1.2.840.113549.1.1.11',
  '1.2.840.10045.4.3.2',
  '1.3.101.112',
  '1.2.840.113549.1.9.3',
  '1.2.840.113549.1.9.4',
  '1.2.840.113549.1.9.5',
  '1.2.840.113549.1.9.6',
  '1.2.840.113549.1.9.16.2.14',
  '1.3.6.1.4.1.311.2.4.1',
  '1.3.6.1.4.1.311.3.3.1',
  '2.5.29.15',
  '2.5.29.19',
  '2.5.29.30',
  '2.5.29.37',
  '2.5.29.31',
];
const ODD_TIMES = [
  '',
  '0',
  'Z',
  '000000000000Z',
  '991332250000Z',
  '230229000000Z',
  '99991231235959Z',
  '00000101000000Z',
  '20240101000000.5Z',
  '20240101000000.123456789012345678901234567890Z',
  '20240101000000+0100',
  '2401010000Z',
  '20240101000060Z',
  '20241301000000Z',
];

/** Odd for its type. */
function oddContents({ tag, contents }: Node, random: Random): Uint8Array {
  const bytes = contents as Uint8Array;
  if (once(random, 3)) return mutateBytes(bytes, random);
  switch (tag) {
    case 0x01:
      return Uint8Array.from(pick(random, [[], [0], [1], [0xff], [0xff, 0xff]]));
    case 0x02:
    case 0x0a:
      return pick(random, [
        Uint8Array.of(),
        Uint8Array.of(0),
        Uint8Array.of(0xff),
        Uint8Array.of(0x7f, 0xff, 0xff, 0xff),
        Uint8Array.of(0x80, 0, 0, 0),
        Buffer.alloc(9, 0xff),
        Buffer.concat([Buffer.alloc(1 + random(20)), bytes]),
        randomBytes(random, 1 + random(40)),
      ]);
    case 0x03:
      return Buffer.concat([Uint8Array.of(random(256)), bytes.subarray(1)]);
    case 0x06:
      if (once(random, 4)) return Buffer.concat([bytes, Buffer.alloc(random(80), 0xff), Uint8Array.of(0x7f)]);
      return objectIdentifier(pick(random, ODD_IDENTIFIERS)).subarray(2);
    case 0x17:
    case 0x18:
      return Buffer.from(pick(random, ODD_TIMES));
    case 0x1e:
      return Buffer.concat([bytes, Uint8Array.of(0xd8)]);
    case 0x0c:
    case 0x13:
    case 0x16:
      return Buffer.from(
        pick(random, ['', '\0', 'a\0b', '\ud800', 'http://[', '*.example.com', '\u202e', 'x'.repeat(5000)]),
      );
    default:
      return mutateBytes(bytes, random);
  }
}

/** A length that is not the contents'. */
function lying(tag: number, contents: Uint8Array, random: Random): Uint8Array {
  const { length } = contents;
  const said = pick(random, [0, length - 1, length + 1, length + 1000, 0xffff, 0x7fff_ffff, 2 ** 40, 2 ** 47]);
  return Buffer.concat([Uint8Array.of(tag), lengthIn(6, Math.max(0, said)), contents]);
}

function longForm(tag: number, contents: Uint8Array, random: Random): Uint8Array {
  return Buffer.concat([Uint8Array.of(tag), lengthIn(1 + random(8), contents.length), contents]);
}

function lengthIn(octets: number, length: number): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(length));
  return Buffer.concat([Uint8Array.of(0x80 | octets), bytes.subarray(8 - octets)]);
}

function indefinite(tag: number, contents: Uint8Array, depth: number): Uint8Array {
  const open = Buffer.from(Array.from({ length: depth }, () => [tag | 0x20, 0x80]).flat());
  return Buffer.concat([open, contents, Buffer.alloc(2 * depth)]);
}

/** As many of them as a case may hold; more would only be made to be thrown away. */
function repeated(whole: Uint8Array, times: number): Uint8Array[] {
  const most = Math.max(2, Math.floor(LARGEST_CASE / whole.length));
  return Array.from({ length: Math.min(times, most) }, () => whole);
}

function deep(whole: Uint8Array, depth: number, random: Random): Uint8Array {
  const tag = pick(random, [0x30, 0x31, 0xa0, 0x24]);
  if (once(random, 3)) return indefinite(tag, whole, depth);
  const headers: Uint8Array[] = [];
  let length = whole.length;
  for (let level = 0; level < depth; level += 1) {
    const header = headerOf(tag, length);
    headers.push(header);
    length += header.length;
  }
  return concat([...headers.reverse(), whole]);
}

/** OCTET STRINGs. */
function pieces(contents: Uint8Array, random: Random): Uint8Array[] {
  const size = 1 + random(Math.max(1, contents.length));
  const count = Math.min(50, Math.ceil(contents.length / size));
  return Array.from({ length: count }, (_, index) =>
    encode(0x04, contents.subarray(index * size, index === count - 1 ? undefined : (index + 1) * size)),
  );
}

const NOTHING = new Uint8Array();
/** Nested parts: what one change has nested deeply is one part for the next change. */
const DEEPEST = 60;

/** The element at `start`, where one is; those in OCTET STRINGs and BIT STRINGs are looked for, too. */
function nodeAt(
  bytes: Uint8Array,
  start: number,
  depth = 0,
): { readonly node: Node; readonly end: number } | undefined {
  const [tag, first] = bytes.subarray(start, start + 2);
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) return undefined;
  if (first === 0x80) return nodeOfIndefinite(tag, bytes, start, depth);
  const octets = first < 0x80 ? 0 : first & 0x7f;
  let length = octets === 0 ? first : 0;
  for (const octet of bytes.subarray(start + 2, start + 2 + octets)) length = length * 256 + octet;
  const from = start + 2 + octets;
  const end = from + length;
  if (octets > 4 || end > bytes.length) return undefined;
  return { node: nodeOf(tag, bytes.subarray(from, end), depth), end };
}

function nodeOfIndefinite(tag: number, bytes: Uint8Array, start: number, depth: number): ReturnType<typeof nodeAt> {
  if (depth > DEEPEST) return undefined;
  const found: Node[] = [];
  for (let at = start + 2; ; ) {
    if (bytes[at] === 0) return { node: { tag, lead: NOTHING, contents: found }, end: at + 2 };
    const part = nodeAt(bytes, at, depth + 1);
    if (part === undefined) return undefined;
    found.push(part.node);
    at = part.end;
  }
}

function nodeOf(tag: number, contents: Uint8Array, depth: number): Node {
  const lead = tag === 0x03 ? contents.subarray(0, 1) : NOTHING;
  const isWrapping = (tag === 0x03 || tag === 0x04) && contents[lead.length] === 0x30;
  const mayHaveParts = depth < DEEPEST && ((tag & 0x20) !== 0 || isWrapping);
  const all = mayHaveParts ? partsIn(contents.subarray(lead.length), depth) : undefined;
  return all === undefined ? { tag, lead: NOTHING, contents } : { tag, lead, contents: all };
}

function partsIn(contents: Uint8Array, depth: number): Node[] | undefined {
  const found: Node[] = [];
  for (let at = 0; at < contents.length; ) {
    const part = nodeAt(contents, at, depth + 1);
    if (part === undefined) return undefined;
    found.push(part.node);
    at = part.end;
  }
  return found;
}

function isParts(contents: Node['contents']): contents is readonly Node[] {
  return Array.isArray(contents);
}

function flatten(node: Node): Node[] {
  return [node, ...(isParts(node.contents) ? node.contents.flatMap(flatten) : [])];
}

function encodeNode(node: Node, target: Node, replacement: readonly Uint8Array[]): Uint8Array {
  if (node === target) return concat(replacement);
  if (!isParts(node.contents)) return encode(node.tag, node.contents);
  return encode(node.tag, node.lead, ...node.contents.map((part) => encodeNode(part, target, replacement)));
}

function encodeWhole(node: Node): Uint8Array {
  return encode(node.tag, contentsOf(node));
}

function contentsOf({ lead, contents }: Node): Uint8Array {
  return isParts(contents) ? concat([lead, ...contents.map(encodeWhole)]) : contents;
}

function encode(tag: number, ...contents: readonly Uint8Array[]): Uint8Array {
  const length = contents.reduce((sum, part) => sum + part.length, 0);
  return concat([headerOf(tag, length), ...contents]);
}

function headerOf(tag: number, length: number): Uint8Array {
  const octets = length < 0x100 ? 1 : length < 0x1_0000 ? 2 : 3;
  return Uint8Array.of(tag, ...(length < 0x80 ? [length] : lengthIn(octets, length)));
}

function concat(all: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(all);
}

/** A case that one change makes larger takes the memory for its own copies: such sizes are for the tests of hostile files. */
const LARGEST_CASE = 2 * 1024 * 1024;

/** Several changes, most often one. */
export function mutateDer(der: Uint8Array, random: Random): Buffer {
  let changed: Buffer = Buffer.from(der);
  for (let left = 1 + (once(random, 3) ? random(4) : 0); left > 0; left -= 1) {
    const next = once(random, 6) ? mutateBytes(changed, random) : mutateStructure(changed, random);
    if (next.length > LARGEST_CASE) break;
    changed = next;
    if (changed.length > 1024 * 1024) break;
  }
  return changed;
}
