/** Reads the chain of cross-reference sections (ISO 32000-2, 7.5.5, 7.5.6). */

import type { ByteSource } from '../bytes/byte-source.ts';
import { pdfErrors } from './errors.ts';
import { parseAt } from './objects.ts';
import { brokenReference, MAX_ENTRIES, type Section } from './section.ts';
import { readXrefStream } from './section-stream.ts';
import { readTable } from './section-table.ts';
import { isInteger, type PdfValue } from './values.ts';

/** A document has one cross-reference section for each time it was saved, and one more if it is linearised. */
const MAX_SECTIONS = 1000;
/** Like Acrobat, searches this many bytes at the end of the file for the last `startxref`. */
const TAIL_LENGTH = 1024;

export async function findStart(source: ByteSource): Promise<{ readonly offset: number; readonly end: number }> {
  const from = Math.max(0, source.size - TAIL_LENGTH);
  const tail = Buffer.from(await source.read(from, source.size - from)).toString('latin1');
  const index = tail.lastIndexOf('startxref');
  if (index < 0) throw brokenReference('the file does not end with startxref');
  const found = /^startxref[\0\t\n\f\r ]+(\d{1,15})[\0\t\n\f\r ]+%%EOF/.exec(tail.slice(index));
  if (found === null) throw brokenReference('no offset and %%EOF follow the last startxref');
  return { offset: Number(found[1]), end: from + index + found[0].length };
}

/**
 * Returns the sections, starting with the last one. In a hybrid file, the cross-reference stream comes after its table.
 * `known` contains sections of a longer file that begins with the same bytes. These sections are not read again.
 */
export async function readSections(
  source: ByteSource,
  start: number,
  known: readonly Section[],
): Promise<readonly [Section, ...Section[]]> {
  const knownAt = new Map(known.filter(({ end }) => end <= source.size).map((section) => [section.offset, section]));
  const readSection = async (offset: number) => knownAt.get(offset) ?? (await readSectionAt(source, offset));
  const seen = new Set([start]);
  const last = await readSection(start);
  const sections: [Section, ...Section[]] = [last];
  let left = MAX_ENTRIES;
  const count = ({ ranges }: Section): void => {
    left -= ranges.reduce((sum, range) => sum + range.count, 0);
    if (left < 0) throw pdfErrors('pdf-too-large', { limit: MAX_ENTRIES, what: 'objects' });
  };
  count(last);
  for (let next: Section | undefined = last; next !== undefined; ) {
    const { entries } = next.trailer;
    const stream = entries.get('XRefStm');
    if (next.kind === 'table' && stream !== undefined) {
      const hybrid = await readSection(offsetOf(stream, 'XRefStm'));
      if (hybrid.kind !== 'stream') throw brokenReference('/XRefStm does not lead to a stream');
      sections.push(hybrid);
      count(hybrid);
    }
    const previous = entries.get('Prev');
    if (previous === undefined) break;
    const offset = offsetOf(previous, 'Prev');
    if (seen.has(offset)) throw brokenReference('its sections lead round in a circle');
    seen.add(offset);
    next = await readSection(offset);
    sections.push(next);
    count(next);
    if (sections.length > MAX_SECTIONS) throw pdfErrors('pdf-too-large', { limit: MAX_SECTIONS, what: 'revisions' });
  }
  return sections;
}

function offsetOf(value: PdfValue, key: string): number {
  if (isInteger(value)) return value;
  throw brokenReference(`/${key} is not an offset`);
}

async function readSectionAt(source: ByteSource, offset: number): Promise<Section> {
  if (offset >= source.size) throw brokenReference(`no section is at byte ${offset}, where one should be`);
  const keyword = await parseAt(source, offset, (from) => {
    from.skipSpace();
    return { text: from.word(), end: offset + from.position };
  });
  if (keyword.text === 'xref') return readTable(source, offset, keyword.end);
  if (/^\d+$/.test(keyword.text)) return readXrefStream(source, offset);
  throw brokenReference(`no section is at byte ${offset}, where one should be`);
}
