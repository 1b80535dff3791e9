/** Archives put together again round changed contents: manifests, signature files, blocks, names, packed data. */

import { zip as putTogether, unzip } from '../../unit/formats/jar/simple-zip.ts';
import { mutateBytes } from './bytes.ts';
import { mutateDer } from './der.ts';
import { mutateLines } from './lines.ts';
import { choose, once, pick, type Random } from './random.ts';
import { mutateZip, ODD_NAMES, oddlyPacked } from './zip.ts';

interface Entry {
  readonly name: string;
  readonly contents: Uint8Array;
}

export function mutateArchive(original: Buffer, random: Random, other: Buffer): Buffer {
  const entries = once(random, 2) ? entriesOf(original) : undefined;
  if (entries === undefined || entries.length === 0) return severalChanges(original, random, other);
  const at = entries.findIndex(({ name }) => /^META-INF\//i.test(name));
  const index = at >= 0 && !once(random, 3) ? pickIn(random, entries, /^META-INF\/.*[^/]$/i) : random(entries.length);
  const entry = entries[index];
  if (entry === undefined) return severalChanges(original, random, other);
  if (once(random, 6)) return withOddData(entries, entry, random);
  const changed = putTogether(changeEntries(entries, index, entry, random));
  return once(random, 8) ? mutateZip(changed, random, other) : changed;
}

function severalChanges(original: Buffer, random: Random, other: Buffer): Buffer {
  const changed = mutateZip(original, random, other);
  return once(random, 4) ? mutateZip(changed, random, other) : changed;
}

function pickIn(random: Random, entries: readonly Entry[], pattern: RegExp): number {
  const found = [...entries.keys()].filter((index) => pattern.test(entries[index]?.name ?? ''));
  return found.length === 0 ? random(entries.length) : pick(random, found);
}

/** None of one that this simple reader does not understand. */
function entriesOf(original: Buffer): readonly Entry[] | undefined {
  try {
    return unzip(original);
  } catch {
    return undefined;
  }
}

function changeEntries(entries: readonly Entry[], index: number, entry: Entry, random: Random): Entry[] {
  return choose(random, 10, [
    () => entries.toSpliced(index, 1),
    () => [...entries, { ...entry, name: pick(random, ODD_NAMES) }],
    () => entries.with(index, { ...entry, name: pick(random, ODD_NAMES) }),
    () => [...entries, entry],
    () => entries.with(index, { ...entry, contents: changeContents(entry, random) }),
  ]);
}

function changeContents({ name, contents }: Entry, random: Random): Uint8Array {
  if (/\.(MF|SF)$/i.test(name)) return mutateLines(contents, random);
  if (/\.(RSA|DSA|EC)$/i.test(name)) return mutateDer(contents, random);
  return mutateBytes(contents, random);
}

/** One entry whose data are not what its records say. */
function withOddData(entries: readonly Entry[], odd: Entry, random: Random): Buffer {
  const { data, size, crc32 } = oddlyPacked(odd.contents, random);
  const whole = putTogether(
    entries.map((entry) => (entry === odd ? { name: entry.name, contents: data, isStored: true } : entry)),
  );
  const name = Buffer.from(odd.name);
  for (const [signature, length, fields] of [
    ['PK\x03\x04', 30, 4],
    ['PK\x01\x02', 46, 6],
  ] as const) {
    for (let at = whole.indexOf(signature, 0, 'latin1'); at >= 0; at = whole.indexOf(signature, at + 4, 'latin1')) {
      if (!whole.subarray(at + length, at + length + name.length).equals(name)) continue;
      whole.writeUInt16LE(8, at + fields + 4);
      whole.writeUInt32LE(crc32, at + fields + 10);
      whole.writeUInt32LE(size, at + fields + 18);
    }
  }
  return whole;
}
