/**
 * Which bytes of the file the section table claims ("PE Format", Section Table). The digest does not follow sections
 * (they leave gaps, overlap and come in any order); they only tell a whole file from a truncated one, and the program's
 * own bytes from signatures.
 */

import type { ByteSource } from '../../bytes/byte-source.ts';
import { Cursor } from '../../bytes/cursor.ts';
import { peErrors } from './errors.ts';

export interface SectionData {
  readonly start: number;
  /** Exclusive. Where SizeOfRawData is larger than VirtualSize, only what a loader reads counts: some linkers do not write the rest. */
  readonly end: number;
}

export interface Sections {
  /** Where the section table, and so the last of the headers, ends. */
  readonly headersEnd: number;
  /** Those that have data in the file, in the table's order. */
  readonly data: readonly SectionData[];
}

const SECTION_LENGTH = 40;

/** `count` has 16 bits, so the table is at most 2.6 MB. */
export async function readSections(source: ByteSource, offset: number, count: number): Promise<Sections> {
  const length = count * SECTION_LENGTH;
  const headersEnd = offset + length;
  if (headersEnd > source.size) {
    throw peErrors('truncated-pe', { what: 'section table', end: headersEnd, size: source.size });
  }

  const cursor = new Cursor(await source.read(offset, length), offset);
  const data: SectionData[] = [];
  for (let index = 0; index < count; index++) {
    const virtualSize = cursor.skip(8, 'Name').u32('VirtualSize');
    const rawSize = cursor.skip(4, 'VirtualAddress').u32('SizeOfRawData');
    const start = cursor.u32('PointerToRawData');
    cursor.skip(16, 'section header');
    const size = virtualSize === 0 ? rawSize : Math.min(rawSize, virtualSize);
    if (start === 0 || size === 0) continue;
    if (start + size > source.size) {
      throw peErrors('truncated-pe', {
        what: `section ${index + 1} of ${count}`,
        end: start + size,
        size: source.size,
      });
    }
    data.push({ start, end: start + size });
  }
  return { headersEnd, data };
}
