/** Changes of archives: of the fields of their records, of whole records, and of names, extra fields and compressed data. */

import { crc32, deflateRawSync } from 'node:zlib';
import { type Field, mutateBytes, randomBytes, setOdd, setOddFields, splice } from './bytes.ts';
import { choose, once, pick, type Random } from './random.ts';

interface Place {
  readonly start: number;
  readonly end: number;
}

interface Places {
  readonly entries: readonly { readonly central: Place; readonly local: Place }[];
  readonly end: number;
  readonly zip64: number | undefined;
  readonly near: readonly number[];
}

type Fields = readonly Field[];
const two = (offset: number): Field => ({ offset, bytes: 2 });
const four = (offset: number): Field => ({ offset, bytes: 4 });
/** Fields of a record; those that both records of an entry have, in the same order. */
const LOCAL: Fields = [...[4, 6, 8].map(two), ...[10, 14, 18, 22].map(four), ...[26, 28].map(two)];
const CENTRAL: Fields = [
  ...LOCAL.map(({ offset, bytes }) => ({ offset: offset + 2, bytes })),
  ...[32, 34, 36].map(two),
  ...[38, 42, 42].map(four),
];
const END: Fields = [...[4, 6, 8, 10, 20].map(two), ...[12, 16].map(four)];
/** Of the ZIP64 end record, and of its locator behind it. */
const ZIP64: Fields = [4, 12, 16, 20, 24, 32, 40, 48, 60, 64, 72].map(four);

export function mutateZip(original: Buffer, random: Random, other: Buffer): Buffer {
  const places = placesIn(original);
  if (places === undefined || places.entries.length === 0) return mutateBytes(original, random);
  const { entries, end, zip64, near } = places;
  const { central, local } = pick(random, entries);
  const oddAt = (start: number, fields: Fields) =>
    setOddFields(
      original,
      fields.map(({ offset, bytes }) => ({ offset: start + offset, bytes })),
      random,
      near,
    );
  const both = () => inBoth(original, central.start, local.start, random, near);
  return choose(random, 16, [
    () => mutateBytes(original, random),
    () => (once(random, 2) ? original.subarray(0, random(original.length)) : splice(original, other, random)),
    () => oddAt(end, END),
    () => oddAt(central.start, CENTRAL),
    () => oddAt(local.start, LOCAL),
    both,
    both,
    () => (zip64 === undefined ? both() : oddAt(zip64, ZIP64)),
    () => insert(original, places, central.end, original.subarray(central.start, central.end), 1),
    () => insert(original, places, central.start, Buffer.alloc(0), -1, central.end - central.start),
    () => Buffer.concat([original, commentWithEnd(random)]),
    () => renamed(original, central, local, random),
    () => withExtraField(original, places, central, random),
    // Before the directory: a gap, whose offsets are right.
    () => {
      const gap = once(random, 2) ? randomBytes(random, 1 + random(64)) : original.subarray(local.start, local.end);
      return insertBefore(original, places, gap);
    },
    () => Buffer.concat([randomBytes(random, 1 + random(100)), original]),
    () => mutateBytes(original, random, [local.start, Math.min(local.end + 300, original.length)]),
  ]);
}

/** The same odd number in both records of an entry. */
function inBoth(original: Buffer, central: number, local: number, random: Random, near: readonly number[]): Buffer {
  const changed = Buffer.from(original);
  const { offset, bytes } = pick(random, LOCAL);
  setOdd(changed, { offset: central + offset + 2, bytes }, random, near);
  changed.copy(changed, local + offset, central + offset + 2, central + offset + 2 + bytes);
  return changed;
}

/** In the directory, with the end record right. `count`: entries more. */
function insert(original: Buffer, { end }: Places, at: number, bytes: Buffer, count: number, removed = 0): Buffer {
  const changed = Buffer.concat([original.subarray(0, at), bytes, original.subarray(at + removed)]);
  const moved = end + bytes.length - removed;
  if (moved + 22 > changed.length) return changed;
  for (const field of [8, 10])
    changed.writeUInt16LE((changed.readUInt16LE(moved + field) + count) & 0xffff, moved + field);
  changed.writeUInt32LE((changed.readUInt32LE(moved + 12) + bytes.length - removed) >>> 0, moved + 12);
  return changed;
}

/** Directly before the directory, with the end record right. */
function insertBefore(original: Buffer, { entries, end }: Places, bytes: Buffer): Buffer {
  const at = Math.min(...entries.map(({ central }) => central.start));
  const changed = Buffer.concat([original.subarray(0, at), bytes, original.subarray(at)]);
  const moved = end + bytes.length;
  changed.writeUInt32LE((changed.readUInt32LE(moved + 16) + bytes.length) >>> 0, moved + 16);
  return changed;
}

function commentWithEnd(random: Random): Buffer {
  const end = Buffer.alloc(22 + random(30));
  end.write('PK\x05\x06', 'latin1');
  for (const field of [8, 10]) end.writeUInt16LE(random(3), field);
  end.writeUInt32LE(random(200), 12);
  end.writeUInt32LE(random(2000), 16);
  end.writeUInt16LE(random(60), 20);
  return end;
}

export const ODD_NAMES: readonly string[] = [
  ...['', '.', '..', '/', '/a', '../a', 'a/../../b', 'C:/a', 'a\\b', 'a//b', 'a/', 'a\0b', 'a\nb', '__proto__'],
  ...['META-INF', 'META-INF/', 'META-INF/MANIFEST.MF', 'meta-inf/Manifest.mf', 'META-INF/MANIFEST.MF/'],
  ...['META-INF/A.SF', 'META-INF/A.RSA', 'META-INF/A.EC', 'META-INF/.SF', 'META-INF/.RSA', 'META-INF/SIG-A'],
  ...['META-INF/INDEX.LIST', 'META-INF/versions/9/A.class', 'META-INF/versions/9/META-INF/MANIFEST.MF'],
  ...['constructor', '\u{1f600}\u202e', 'e\u0301', 'x'.repeat(300), 'x'.repeat(70_000 - 4500)],
];

/** In both records or one, of the same length: whatever fits. */
function renamed(original: Buffer, central: Place, local: Place, random: Random): Buffer {
  const changed = Buffer.from(original);
  const length = original.readUInt16LE(central.start + 28);
  const name = Buffer.alloc(length, 0x2f);
  Buffer.from(pick(random, ODD_NAMES)).copy(name);
  if (!once(random, 6)) name.copy(changed, central.start + 46);
  if (!once(random, 6) && local.start + 30 + length <= changed.length) name.copy(changed, local.start + 30);
  return changed;
}

/** An extra field more in the directory: ZIP64, a name in Unicode, Java's, or one that is longer than it can be. */
function withExtraField(original: Buffer, places: Places, { start }: Place, random: Random): Buffer {
  const id = pick(random, [0x0001, 0x7075, 0xcafe, 0x5455, 0x9901, random(0x1_0000)]);
  const data = randomBytes(random, random(40));
  const field = Buffer.concat([Buffer.alloc(4), data]);
  field.writeUInt16LE(id);
  field.writeUInt16LE(once(random, 3) ? random(80) : data.length, 2);
  const at = start + 46 + original.readUInt16LE(start + 28);
  const changed = insert(original, places, at, field, 0);
  changed.writeUInt16LE((original.readUInt16LE(start + 30) + field.length) & 0xffff, start + 30);
  return changed;
}

/** As the end record says, be it in ZIP64 or not: where a reader that believes everything would find them. */
function placesIn(bytes: Buffer): Places | undefined {
  const end = bytes.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  if (end < 0 || end + 22 > bytes.length) return undefined;
  const zip64 = bytes.lastIndexOf('PK\x06\x06', end, 'latin1');
  const first = bytes.indexOf('PK\x01\x02', 0, 'latin1');
  const entries: Places['entries'][number][] = [];
  for (let at = first; at >= 0 && at + 46 <= end && bytes.readUInt32LE(at) === 0x02014b50; ) {
    const tail = bytes.readUInt16LE(at + 28) + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
    const local = bytes.readUInt32LE(at + 42);
    if (local + 30 <= bytes.length) {
      const localEnd = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
      entries.push({
        central: { start: at, end: Math.min(at + 46 + tail, end) },
        local: { start: local, end: Math.min(localEnd + bytes.readUInt32LE(at + 20), bytes.length) },
      });
    }
    at += 46 + tail;
  }
  const near = [bytes.length, end, first, bytes.readUInt32LE(end + 12), ...entries.map(({ local }) => local.start)];
  return { entries, end, zip64: zip64 < 0 ? undefined : zip64, near };
}

/** Data that inflate to something else than the record says, and what it says of them. */
export function oddlyPacked(contents: Uint8Array, random: Random) {
  const good = deflateRawSync(contents);
  const bomb = (): Buffer => deflateRawSync(Buffer.alloc(random(4_000_000)));
  const data = choose(random, 7, [
    () => mutateBytes(good, random),
    () => Buffer.concat([good, randomBytes(random, 1 + random(9))]),
    () => good.subarray(0, random(good.length)),
    bomb,
    () => deflateRawSync(contents, { level: 0 }),
    () => Buffer.from([3, 0]),
    () => Buffer.from([7]),
  ]);
  const size = once(random, 2) ? contents.length : random(5_000_000);
  return { data, size, crc32: crc32(contents) };
}
