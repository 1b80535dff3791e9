/** Changes of archives: bytes of them, and archives put together again round odd contents, names, records and packed data. */

import { crc32, deflateRawSync } from 'node:zlib';
import { unzip } from '../../unit/formats/jar/simple-zip.ts';
import {
  type ArchiveParts,
  buildZip,
  DEFLATED,
  type EntryParts,
  extraField,
  STORED,
} from '../../unit/zip/support/zip-builder.ts';
import { mutateBytes, randomBytes, splice } from './bytes.ts';
import { mutateDer } from './der.ts';
import { mutateLines } from './lines.ts';
import { choose, oddNumber, once, pick, type Random } from './random.ts';

export function mutateArchive(original: Buffer, random: Random, other: Buffer): Buffer {
  const entries = once(random, 3) ? [] : entriesOf(original);
  if (entries.length === 0) return once(random, 6) ? splice(original, other, random) : mutateBytes(original, random);
  const ofSignature = [...entries.keys()].filter((index) => /^META-INF\/.*[^/]$/i.test(entries[index]?.name ?? ''));
  const index = ofSignature.length === 0 || once(random, 3) ? random(entries.length) : pick(random, ofSignature);
  const odd = entries.flatMap((entry, at) => (at === index ? changeEntry(entry, random) : [packed(entry)]));
  const changed = buildZip({ entries: odd, ...(once(random, 3) ? oddSurroundings(odd, random) : {}) });
  return once(random, 6) ? mutateBytes(changed, random) : changed;
}

interface Entry {
  readonly name: string;
  readonly contents: Buffer;
}

/** None of one that this simple reader does not understand. */
function entriesOf(original: Buffer): readonly Entry[] {
  try {
    return unzip(original);
  } catch {
    return [];
  }
}

function packed({ name, contents }: Entry): EntryParts {
  const [method, data] = name.endsWith('/') ? [STORED, contents] : [DEFLATED, deflateRawSync(contents)];
  return { name, method, data, crc: crc32(contents), size: contents.length };
}

const ODD_NAMES: readonly string[] = [
  ...['', '.', '..', '/', '/a', '../a', 'a/../../b', 'C:/a', 'a\\b', 'a//b', 'a/', 'a\0b', 'a\nb', '__proto__'],
  ...['META-INF', 'META-INF/', 'META-INF/MANIFEST.MF', 'meta-inf/Manifest.mf', 'META-INF/MANIFEST.MF/'],
  ...['META-INF/A.SF', 'META-INF/A.RSA', 'META-INF/A.EC', 'META-INF/.SF', 'META-INF/.RSA', 'META-INF/SIG-A'],
  ...['META-INF/INDEX.LIST', 'META-INF/versions/9/A.class', 'META-INF/versions/9/META-INF/MANIFEST.MF'],
  ...['constructor', '\u{1f600}\u202e', 'e\u0301', 'x'.repeat(300), 'x'.repeat(70_000 - 4500)],
];
const DESCRIPTORS = ['signed', 'bare', 'signed64', 'bare64'] as const;
const FIELDS = ['version', 'flags', 'method', 'crc', 'size', 'compressedSize'] as const;
const MOVED = [['size'], ['size', 'compressedSize'], ['size', 'compressedSize', 'offset']] as const;

/** Replaces an entry with another one, with none, or with two. */
function changeEntry(entry: Entry, random: Random): EntryParts[] {
  const whole = packed(entry);
  const near = [whole.size ?? 0, whole.data?.length ?? 0];
  const odd = { [pick(random, FIELDS)]: oddNumber(random, 4, near) };
  const name = pick(random, ODD_NAMES);
  // ZIP64, a name in Unicode, Java's, or any.
  const id = pick(random, [0x0001, 0x7075, 0xcafe, 0x5455, 0x9901, random(0x1_0000)]);
  const field = extraField(id, randomBytes(random, random(40)));
  const extra = once(random, 3) ? field.subarray(0, random(field.length)) : field;
  return choose<EntryParts[]>(random, 28, [
    () => [],
    () => [whole, { ...whole, name }],
    () => [whole, whole],
    () => [{ ...whole, name }],
    () => [{ ...whole, local: { name } }],
    () => [{ ...whole, ...odd }],
    () => [{ ...whole, local: odd }],
    () => [{ ...whole, central: odd }],
    () => [{ ...whole, central: { offset: oddNumber(random, 4, near) } }],
    () => [{ ...whole, extra: pick(random, [{ local: extra }, { central: extra }, { local: extra, central: extra }]) }],
    () => [{ ...whole, descriptor: pick(random, DESCRIPTORS) }],
    () => [{ ...whole, zip64: { local: MOVED[1], central: pick(random, MOVED) } }],
    () => [{ ...whole, gap: randomBytes(random, 1 + random(64)) }],
    () => [{ ...whole, hidden: true }],
    () => [{ ...whole, ...oddlyPacked(entry.contents, random) }],
    () => [{ ...whole, ...oddlyPacked(entry.contents, random) }],
    () => [packed({ name: entry.name, contents: changeContents(entry, random) })],
  ]);
}

function changeContents({ name, contents }: Entry, random: Random): Buffer {
  if (/\.(MF|SF)$/i.test(name)) return mutateLines(contents, random);
  if (/\.(RSA|DSA|EC)$/i.test(name)) return mutateDer(contents, random);
  return mutateBytes(contents, random);
}

/** Data that inflate to something else than the record says, and what it says of them. */
function oddlyPacked(contents: Buffer, random: Random): Pick<EntryParts, 'method' | 'data' | 'size'> {
  const good = deflateRawSync(contents);
  const data = choose(random, 7, [
    () => mutateBytes(good, random),
    () => Buffer.concat([good, randomBytes(random, 1 + random(9))]),
    () => good.subarray(0, random(good.length)),
    () => deflateRawSync(Buffer.alloc(random(4_000_000))),
    () => deflateRawSync(contents, { level: 0 }),
    () => Buffer.from([3, 0]),
    () => Buffer.from([7]),
  ]);
  return { method: DEFLATED, data, size: once(random, 2) ? contents.length : random(5_000_000) };
}

const END_FIELDS = ['disk', 'directoryDisk', 'diskCount', 'count', 'directorySize', 'directoryOffset'] as const;

function oddSurroundings(entries: readonly EntryParts[], random: Random): Partial<ArchiveParts> {
  const some = randomBytes(random, 1 + random(100));
  const end = { [pick(random, END_FIELDS)]: oddNumber(random, 4, [entries.length]) };
  const anotherEnd = {
    count: random(3),
    diskCount: random(3),
    directorySize: random(200),
    directoryOffset: random(2000),
  };
  return choose<Partial<ArchiveParts>>(random, 9, [
    () => ({ preamble: some, offsets: pick(random, ['file', 'archive']) }),
    () => ({ gap: some }),
    () => ({ trailing: some }),
    () => ({ comment: buildZip({ entries: [], end: anotherEnd, comment: some.subarray(0, random(30)) }) }),
    () => ({ zip64: true, zip64Data: some.subarray(0, random(9)) }),
    () => ({ zip64: true, end }),
    () => ({ localOrder: [...entries.keys()].reverse() }),
    () => ({ end }),
  ]);
}
