/**
 * What signing has lost of an archive, found by a ZIP reader that shares nothing with src: byte by byte, except for the
 * manifest's digests and the files of signatures.
 */

import { inflateRawSync } from 'node:zlib';

interface ArchiveEntry {
  /** As the bytes are, in latin1: names in any encoding stay apart. */
  readonly name: string;
  readonly offset: number;
  /** Part of a record → its bytes. Where the record lies is not among them. */
  readonly parts: ReadonlyMap<string, Buffer>;
  readonly data: Buffer;
  readonly end: number;
}

interface Archive {
  readonly preamble: Buffer;
  /** What must be added to the offsets in the directory to find the records. */
  readonly base: number;
  readonly entries: readonly ArchiveEntry[];
  /** Unused bytes before a record, by the entry's name, and before the directory, by an empty one. */
  readonly gaps: ReadonlyMap<string, Buffer>;
  readonly comment: Buffer;
  readonly trailing: Buffer;
}

/** Field of a header → where it begins and ends. */
type Fields = Readonly<Record<string, readonly [number, number]>>;

const LOCAL: Fields = {
  version: [4, 6],
  flags: [6, 8],
  method: [8, 10],
  time: [10, 14],
  checksum: [14, 18],
  sizes: [18, 26],
};
const CENTRAL: Fields = {
  'made by': [4, 6],
  version: [6, 8],
  flags: [8, 10],
  method: [10, 12],
  time: [12, 16],
  checksum: [16, 20],
  sizes: [20, 28],
  disk: [34, 36],
  'internal attributes': [36, 38],
  'external attributes': [38, 42],
};
const OF_SIGNATURES = /^META-INF\/(MANIFEST\.MF|[^/]*\.(SF|RSA|DSA|EC))$/i;
/** Where it is, it belongs before the manifest, and that before everything else. */
const FRONT = 'META-INF/';
const MANIFEST = /^META-INF\/MANIFEST\.MF$/i;
const FILLED = 0xffffffff;
const UNIX = 3;

/** Everything of the original that the signed archive does not have as it was; empty when signing has only added. */
export function lossesOf(original: Buffer, signed: Buffer): readonly string[] {
  const [before, after] = [readArchive(original), readArchive(signed)];
  const losses = (['preamble', 'comment', 'trailing'] as const)
    .filter((part) => !before[part].equals(after[part]))
    .map((part) => `${part}: ${before[part].length} bytes → ${after[part].length}`);
  const isMoved = before.base !== after.base && before.preamble.equals(after.preamble);
  if (isMoved) losses.push(`offset convention: ${before.base} → ${after.base}`);
  return [...losses, ...lostGaps(before, after), ...lostEntries(before, after), ...lostAttributes(before, after)];
}

/** Names of the entries that were made on Unix, and so have its permissions, in latin1. */
export function madeOnUnix(archive: Buffer): readonly string[] {
  const { entries } = readArchive(archive);
  return entries.filter(({ parts }) => parts.get('central made by')?.at(1) === UNIX).map(({ name }) => name);
}

function lostGaps(before: Archive, after: Archive): string[] {
  return [...before.gaps]
    .filter(([name, gap]) => !OF_SIGNATURES.test(name) && !after.gaps.get(name)?.includes(gap))
    .map(([name]) => `gap before ${name || 'the directory'}`);
}

function lostEntries(before: Archive, after: Archive): string[] {
  const kept = before.entries.filter(({ name }) => !OF_SIGNATURES.test(name));
  const found = after.entries.filter(({ name }) => !OF_SIGNATURES.test(name));
  const losses = kept.flatMap((entry) => {
    const same = found.find(({ name }) => name === entry.name);
    const lost = [...entry.parts].filter(([part, bytes]) => !same?.parts.get(part)?.equals(bytes));
    return lost.map(([part]) => `entry ${entry.name}: ${part}`);
  });
  const names = kept.map(({ name }) => name);
  for (const { name } of found) if (!names.includes(name)) losses.push(`foreign entry ${name}`);
  const orders = {
    'of the directory': (entries: readonly ArchiveEntry[]) => entries,
    'of the records': (entries: readonly ArchiveEntry[]) => entries.toSorted((a, b) => a.offset - b.offset),
  };
  for (const [which, inOrder] of Object.entries(orders)) {
    const common = inOrder(found).filter(({ name }) => name !== FRONT && names.includes(name));
    const expected = inOrder(kept).filter(({ name }) => common.some((entry) => entry.name === name));
    if (expected.some(({ name }, index) => common[index]?.name !== name)) losses.push(`order ${which}`);
  }
  return losses;
}

/** Attributes of the manifest, digests apart, that are gone or have become others. */
function lostAttributes(before: Archive, after: Archive): string[] {
  const still = new Set(attributes(after));
  return attributes(before)
    .filter((attribute) => !/\n[^:]*-Digest:/i.test(attribute) && !still.has(attribute))
    .map((attribute) => `manifest: ${attribute.trim().replace('\n', ': ')}`);
}

/** Each as section, newline, line; the main section has no name. A last line counts whether it is ended or not. */
function attributes({ entries }: Archive): string[] {
  const manifest = entries.find(({ name }) => MANIFEST.test(name));
  if (manifest === undefined) return [];
  const method = manifest.parts.get('central method')?.readUInt16LE() ?? 0;
  const text = (method === 8 ? inflateRawSync(manifest.data) : manifest.data).toString('latin1');
  const sections = text
    .replace(/\r\n|\r/g, '\n')
    .replaceAll('\n ', '')
    .split(/\n\n+/);
  return sections.flatMap((section, index) => {
    const lines = section.split('\n').filter((line) => line !== '');
    return lines.map((line) => `${index === 0 ? '' : lines[0]}\n${line}`);
  });
}

function readArchive(bytes: Buffer): Archive {
  const end = findEndRecord(bytes);
  const { directory, base, count, commentEnd } = end;
  const entries: ArchiveEntry[] = [];
  let position = directory;
  for (let index = 0; index < count; index++) {
    const central = recordAt(bytes, position, 'PK\x01\x02', 46, [28, 30, 32]);
    entries.push(readEntry(bytes, central, base));
    position += central.length;
  }
  const gaps = new Map<string, Buffer>();
  const inOrder = entries.toSorted((a, b) => a.offset - b.offset);
  const first = inOrder[0]?.offset ?? directory;
  let reached = first;
  for (const { name, offset, end } of [...inOrder, { name: '', offset: directory, end: directory }]) {
    if (offset < reached) throw new Error(`records overlap before ${name} at ${offset}`);
    if (offset > reached) gaps.set(name, bytes.subarray(reached, offset));
    reached = end;
  }
  return {
    preamble: bytes.subarray(0, first),
    base,
    entries,
    gaps,
    comment: bytes.subarray(end.comment, commentEnd),
    trailing: bytes.subarray(commentEnd),
  };
}

function findEndRecord(bytes: Buffer) {
  const commentEnd = (at: number) => at + 22 + bytes.readUInt16LE(at + 20);
  const candidates: number[] = [];
  for (let at = bytes.lastIndexOf('PK\x05\x06', bytes.length - 22, 'latin1'); at >= 0; ) {
    candidates.push(at);
    at = at === 0 ? -1 : bytes.lastIndexOf('PK\x05\x06', at - 1, 'latin1');
  }
  const at = candidates.find((start) => commentEnd(start) === bytes.length) ?? candidates[0];
  if (at === undefined) throw new Error('no end record');
  const found = { comment: at + 22, commentEnd: commentEnd(at) };
  const locator = at - 20;
  if (locator >= 0 && bytes.toString('latin1', locator, locator + 4) === 'PK\x06\x07') {
    const at64 = bytes.lastIndexOf('PK\x06\x06', locator, 'latin1');
    const directory = at64 - Number(bytes.readBigUInt64LE(at64 + 40));
    const base = directory - Number(bytes.readBigUInt64LE(at64 + 48));
    return { ...found, directory, base, count: Number(bytes.readBigUInt64LE(at64 + 32)) };
  }
  const directory = at - bytes.readUInt32LE(at + 12);
  return { ...found, directory, base: directory - bytes.readUInt32LE(at + 16), count: bytes.readUInt16LE(at + 10) };
}

/** A header with its fields of variable length, whose lengths stand at the given places. */
function recordAt(bytes: Buffer, at: number, signature: string, fixed: number, lengthsAt: readonly number[]): Buffer {
  if (bytes.toString('latin1', at, at + 4) !== signature) throw new Error(`no record at ${at}`);
  return bytes.subarray(
    at,
    lengthsAt.reduce((end, place) => end + bytes.readUInt16LE(at + place), at + fixed),
  );
}

function readEntry(bytes: Buffer, central: Buffer, base: number): ArchiveEntry {
  const nameEnd = 46 + central.readUInt16LE(28);
  const extraEnd = nameEnd + central.readUInt16LE(30);
  const extra = Buffer.from(central.subarray(nameEnd, extraEnd));
  const wide = wideFields(extra);
  if (central.readUInt32LE(24) === FILLED) wide.next();
  const packed = wide.orElse(central.readUInt32LE(20));
  const offset = base + wide.orElse(central.readUInt32LE(42), 'blank');

  const local = recordAt(bytes, offset, 'PK\x03\x04', 30, [26, 28]);
  const dataStart = offset + local.length;
  const dataEnd = dataStart + packed;
  const descriptor = (local.readUInt16LE(6) & 8) === 0 ? 0 : descriptorLength(bytes, dataEnd, central);
  const localNameEnd = 30 + local.readUInt16LE(26);
  const data = bytes.subarray(dataStart, dataEnd);
  const parts = new Map([
    ...Object.entries(CENTRAL).map(
      ([field, [start, end]]) => [`central ${field}`, central.subarray(start, end)] as const,
    ),
    ['central extra field', extra],
    ['central comment', central.subarray(extraEnd)],
    ...Object.entries(LOCAL).map(([field, [start, end]]) => [`local ${field}`, local.subarray(start, end)] as const),
    ['local name', local.subarray(30, localNameEnd)],
    ['local extra field', local.subarray(localNameEnd)],
    ['data', data],
    ['descriptor', bytes.subarray(dataEnd, dataEnd + descriptor)],
  ]);
  return { name: central.toString('latin1', 46, nameEnd), offset, parts, data, end: dataEnd + descriptor };
}

/** The 64-bit numbers of a ZIP64 extra field, one after the other. */
function wideFields(extra: Buffer) {
  let at = 0;
  while (at + 4 <= extra.length && extra.readUInt16LE(at) !== 1) at += 4 + extra.readUInt16LE(at + 2);
  at += 4;
  const next = (then?: 'blank') => {
    const value = Number(extra.readBigUInt64LE(at));
    if (then === 'blank') extra.fill(0, at, at + 8);
    at += 8;
    return value;
  };
  return { next, orElse: (narrow: number, then?: 'blank') => (narrow === FILLED ? next(then) : narrow) };
}

/** A descriptor comes with or without a signature, its sizes with 32 or 64 bits: the form is the one that holds what is right. */
function descriptorLength(bytes: Buffer, at: number, central: Buffer): number {
  const checksum = central.subarray(16, 20);
  const hasSignature =
    bytes.toString('latin1', at, at + 4) === 'PK\x07\x08' && bytes.subarray(at + 4, at + 8).equals(checksum);
  const start = at + (hasSignature ? 4 : 0);
  if (!bytes.subarray(start, start + 4).equals(checksum)) throw new Error(`no data descriptor at ${at}`);
  const sizes = central.subarray(20, 28);
  const isNarrow = bytes.subarray(start + 4, start + 12).equals(sizes);
  return start + (isNarrow ? 12 : 20) - at;
}
