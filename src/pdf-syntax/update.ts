/**
 * Writes an incremental update (ISO 32000-2, 7.5.6) with a cross-reference section of the same kind as the last one.
 */

import type { PdfDocument } from './document.ts';
import { dictionaryWith } from './write.ts';

export interface ChangedObject {
  readonly number: number;
  readonly generation: number;
  readonly body: Uint8Array;
}

export interface Update {
  readonly bytes: Buffer;
  readonly starts: ReadonlyMap<number, number>;
}

const SECTION_KEYS = ['Prev', 'XRefStm', 'Length', 'Filter', 'DecodeParms', 'Index', 'W', 'Type'];
/** Removes the keys that describe the previous cross-reference section. */
const OWN_KEYS = Object.fromEntries(SECTION_KEYS.map((key) => [key, undefined]));

/** Each update begins with a line feed, so that removing the update restores the file exactly. */
export function writeUpdate(document: PdfDocument, objects: readonly ChangedObject[]): Update {
  const { source, sections, trailer, nextNumber } = document;
  const [{ kind, offset: previous }] = sections;
  const parts: Uint8Array[] = [];
  let position = source.size;
  const write = (bytes: Uint8Array | string): void => {
    const part = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;
    parts.push(part);
    position += part.length;
  };
  write('\n');
  const entries = new Map<number, { readonly offset: number; readonly generation: number }>();
  const starts = new Map<number, number>();
  for (const { number, generation, body } of objects.toSorted((a, b) => a.number - b.number)) {
    entries.set(number, { offset: position, generation });
    write(`${number} ${generation} obj\n`);
    starts.set(number, position);
    write(body);
    write('\nendobj\n');
  }
  const start = position;
  const highest = objects.reduce((most, { number }) => Math.max(most, number), nextNumber - 1);
  if (kind === 'table') {
    write('xref\n');
    for (const run of runsOf([...entries.keys()])) {
      write(`${run[0]} ${run.length}\n`);
      for (const number of run) {
        const { offset = 0, generation = 0 } = entries.get(number) ?? {};
        write(`${String(offset).padStart(10, '0')} ${String(generation).padStart(5, '0')} n \n`);
      }
    }
    write('trailer\n');
    write(dictionaryWith(trailer, { ...OWN_KEYS, Size: String(highest + 1), Prev: String(previous) }));
  } else {
    const number = highest + 1;
    entries.set(number, { offset: start, generation: 0 });
    const rows = [...entries].map(([, { offset, generation }]) => {
      const row = Buffer.alloc(ROW_LENGTH);
      row.writeUInt8(1, 0);
      row.writeUIntBE(offset, 1, 6);
      row.writeUInt16BE(generation, 7);
      return row;
    });
    const index = runsOf([...entries.keys()]).map((run) => `${run[0]} ${run.length}`);
    write(`${number} 0 obj\n`);
    const own = {
      Type: '/XRef',
      Size: String(number + 1),
      Prev: String(previous),
      W: '[1 6 2]',
      Index: `[${index.join(' ')}]`,
      Length: String(rows.length * ROW_LENGTH),
    };
    write(dictionaryWith(trailer, { ...OWN_KEYS, ...own }));
    write('\nstream\n');
    write(Buffer.concat(rows));
    write('\nendstream\nendobj');
  }
  write(`\nstartxref\n${start}\n%%EOF\n`);
  return { bytes: Buffer.concat(parts), starts };
}

/** Length of a row in a cross-reference stream: type (1 byte), offset (6), generation (2). */
const ROW_LENGTH = 9;

function runsOf(numbers: readonly number[]): number[][] {
  const runs: number[][] = [];
  for (const number of numbers) {
    const last = runs.at(-1);
    if (last?.at(-1) === number - 1) last.push(number);
    else runs.push([number]);
  }
  return runs;
}
