/**
 * What signing has lost of an archive, found by a ZIP reader that shares nothing with src: byte by byte, except for the
 * manifest's digests and the files of signatures.
 */

import { inflateRawSync } from 'node:zlib';

interface ArchiveEntry {
  /** As the bytes are, in latin1: names in any encoding stay apart. */
  readonly name: string;
  readonly offset: number;
  /** Its record in the directory, without the offset. */
  readonly listed: Buffer;
  /** The local record with data and descriptor, and with unused bytes before the next record. */
  readonly record: Buffer;
  readonly packed: number;
}

type Archive = ReturnType<typeof readArchive>;

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
  return [...losses, ...lostEntries(before, after), ...lostAttributes(before, after)];
}

/** Names of the entries that were made on Unix, and so have its permissions, in latin1. */
export function madeOnUnix(archive: Buffer): readonly string[] {
  const { entries } = readArchive(archive);
  return entries.filter(({ listed }) => listed.at(5) === UNIX).map(({ name }) => name);
}

function lostEntries(before: Archive, after: Archive): string[] {
  const kept = before.entries.filter(({ name }) => !OF_SIGNATURES.test(name));
  const found = after.entries.filter(({ name }) => !OF_SIGNATURES.test(name));
  const losses = kept.flatMap((entry) => {
    const same = found.find(({ name }) => name === entry.name);
    const isListed = same?.listed.equals(entry.listed);
    const isWhole = same?.record.subarray(0, entry.record.length).equals(entry.record);
    return [...(isListed ? [] : [`directory: ${entry.name}`]), ...(isWhole ? [] : [`entry ${entry.name}`])];
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
  const { record, packed } = manifest;
  const data = record.subarray(30 + record.readUInt16LE(26) + record.readUInt16LE(28)).subarray(0, packed);
  const text = (record.readUInt16LE(8) === 8 ? inflateRawSync(data) : data).toString('latin1');
  const sections = text
    .replace(/\r\n|\r/g, '\n')
    .replaceAll('\n ', '')
    .split(/\n\n+/);
  return sections.flatMap((section, index) => {
    const lines = section.split('\n').filter((line) => line !== '');
    return lines.map((line) => `${index === 0 ? '' : lines[0]}\n${line}`);
  });
}

function readArchive(bytes: Buffer) {
  const { directory, base, count, comment, commentEnd } = findEndRecord(bytes);
  const listed: Buffer[] = [];
  for (let at = directory; listed.length < count; at += listed.at(-1)?.length ?? 0) {
    if (bytes.toString('latin1', at, at + 4) !== 'PK\x01\x02') throw new Error(`no record at ${at}`);
    const lengths = [28, 30, 32].map((place) => bytes.readUInt16LE(at + place));
    listed.push(
      bytes.subarray(
        at,
        lengths.reduce((end, length) => end + length, at + 46),
      ),
    );
  }
  const found = listed.map((record) => readListed(record, base));
  const offsets = [...found.map(({ offset }) => offset), directory].sort((a, b) => a - b);
  const entries = found.map((entry) => {
    const record = bytes.subarray(entry.offset, offsets[offsets.indexOf(entry.offset) + 1]);
    if (record.toString('latin1', 0, 4) !== 'PK\x03\x04') throw new Error(`no record at ${entry.offset}`);
    return { ...entry, record };
  });
  const preamble = bytes.subarray(0, offsets[0]);
  return {
    preamble,
    /** An offset in the directory plus this number is the position of the record. */
    base,
    entries,
    comment: bytes.subarray(comment, commentEnd),
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

function readListed(record: Buffer, base: number): Omit<ArchiveEntry, 'record'> {
  const listed = Buffer.from(record);
  const nameEnd = 46 + record.readUInt16LE(28);
  let wide = nameEnd;
  while (wide + 4 < record.length && record.readUInt16LE(wide) !== 1) wide += 4 + record.readUInt16LE(wide + 2);
  wide += 4;
  // A ZIP64 field has the numbers that do not fit, in this order.
  const [, packed = 0, offset = 0] = [24, 20, 42].map((field) => {
    const place = record.readUInt32LE(field) === FILLED ? wide : field;
    const length = place === wide ? 8 : 4;
    if (place === wide) wide += 8;
    if (field === 42) listed.fill(0, place, place + length);
    return place === field ? record.readUInt32LE(field) : Number(record.readBigUInt64LE(place));
  });
  return { name: record.toString('latin1', 46, nameEnd), offset: base + offset, listed, packed };
}
