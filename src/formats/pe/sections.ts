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
  /** Exclusive. */
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
    const size = cursor.skip(16, 'Name, VirtualSize, VirtualAddress').u32('SizeOfRawData');
    const start = cursor.u32('PointerToRawData');
    cursor.skip(16, 'section header');
    if (start === 0 || size === 0) continue;
    // Programs that follow sections when they verify (EFI firmware, sbverify) cannot digest such a file, so that all agree
    // only on refusing it; it is most likely a download that was cut off.
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
