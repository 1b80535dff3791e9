/** Changes of programs: of the header's fields, the certificate table and the CMS in it, and of anything else. */

import { type Field, mutateBytes, randomBytes, setOddFields, splice } from './bytes.ts';
import { mutateDer } from './der.ts';
import { choose, once, pick, type Random } from './random.ts';

interface Places {
  readonly fields: readonly Field[];
  /** Offset of the entry of the certificate table. */
  readonly entry: number;
  /** What that says; of a program without a table its end, and 0. */
  readonly table: readonly [offset: number, size: number];
  /** Numbers that mean something in this file. */
  readonly near: readonly number[];
}

const WIN_CERTIFICATE_HEADER = 8;

export function mutatePe(original: Buffer, random: Random, other: Buffer): Buffer {
  const places = placesIn(original);
  if (places === undefined) return mutateBytes(original, random);
  const { fields, table, near } = places;
  const [start, size] = table;
  return choose(random, 12, [
    () => mutateBytes(original, random),
    () => mutateBytes(original, random, [0, Math.min(original.length, 1024)]),
    () => mutateBytes(original, random, [start, original.length]),
    () => (once(random, 2) ? original.subarray(0, random(original.length)) : splice(original, other, random)),
    () => Buffer.concat([original, randomBytes(random, 1 + random(40))]),
    ...[1, 2, 3].map(() => () => setOddFields(original, fields, random, near)),
    () => {
      const isSigned = size > WIN_CERTIFICATE_HEADER;
      const changed = isSigned ? changedTable(original.subarray(start, start + size), random) : someTable(random);
      return withTable(original, places, changed, random);
    },
  ]);
}

/** The file with another table, and an entry that says so, mostly. */
function withTable(original: Buffer, { entry, table: [start] }: Places, table: Buffer, random: Random): Buffer {
  const changed = Buffer.concat([original.subarray(0, start), table]);
  // In a header that lies, the table may stand before its own entry.
  if (entry + 8 > changed.length) return changed;
  changed.writeUInt32LE(start, entry);
  changed.writeUInt32LE(once(random, 10) ? random(table.length + 16) : table.length, entry + 4);
  return changed;
}

function changedTable(table: Buffer, random: Random): Buffer {
  const header = table.subarray(0, WIN_CERTIFICATE_HEADER);
  const cms = table.subarray(WIN_CERTIFICATE_HEADER);
  const one = winCertificate(header, mutateDer(cms, random), random);
  return choose(random, 6, [
    () => Buffer.concat([table, one]),
    () => Buffer.concat(Array.from({ length: 1 + random(80) }, () => (once(random, 2) ? one : someTable(random)))),
    () => one,
  ]);
}

function winCertificate(header: Buffer, cms: Uint8Array, random: Random): Buffer {
  const padding = once(random, 8) ? random(20) : (8 - (cms.length % 8)) % 8;
  const changed = Buffer.concat([header, cms, Buffer.alloc(padding)]);
  changed.writeUInt32LE(changed.length - (once(random, 4) ? padding : 0));
  return changed;
}

function someTable(random: Random): Buffer {
  const header = Buffer.alloc(WIN_CERTIFICATE_HEADER);
  header.writeUInt16LE(pick(random, [0x100, 0x200, 0, 0x300]), 4);
  header.writeUInt16LE(pick(random, [1, 2, 3, 4, 0x0ef0, 0x0ef1, 0]), 6);
  return winCertificate(header, randomBytes(random, random(64)), random);
}

function placesIn(bytes: Buffer): Places | undefined {
  if (bytes.length < 64) return undefined;
  const at = bytes.readUInt32LE(60);
  if (at + 24 + 160 > bytes.length || bytes.toString('latin1', at, at + 4) !== 'PE\0\0') return undefined;
  const optional = at + 24;
  const isPlus = bytes.readUInt16LE(optional) === 0x20b;
  const directories = optional + (isPlus ? 112 : 96);
  const entry = directories + 32;
  const sectionTable = optional + bytes.readUInt16LE(at + 20);
  const sections = Array.from(
    { length: Math.min(96, bytes.readUInt16LE(at + 6)) },
    (_, index) => sectionTable + 40 * index,
  );
  const said = [bytes.readUInt32LE(entry), bytes.readUInt32LE(entry + 4)] as const;
  const table = said[0] === 0 || said[0] + said[1] > bytes.length ? ([bytes.length, 0] as const) : said;
  const four = (offset: number): Field => ({ offset, bytes: 4 });
  const two = (offset: number): Field => ({ offset, bytes: 2 });
  return {
    entry,
    table,
    near: [bytes.length, ...table, table[0] + table[1], sectionTable, at],
    fields: [
      ...[60, at, optional + 60, optional + 64, directories - 4, entry, entry + 4, entry, entry + 4].map(four),
      ...[at + 4, at + 6, at + 20, at + 20, optional, optional + 68].map(two),
      ...sections.flatMap((section) => [8, 12, 16, 20].map((field) => four(section + field))),
      ...(table[1] === 0 ? [] : [four(table[0]), two(table[0] + 4), two(table[0] + 6)]),
    ],
  };
}
