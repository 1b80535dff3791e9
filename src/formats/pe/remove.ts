/** The edits that take the certificate table out of a PE file, whatever is in it. */

import type { Patch } from '../../bytes/patch.ts';
import { formatErrors } from '../errors.ts';
import { imageChecksum } from './checksum.ts';
import { CHECKSUM_LENGTH, TABLE_ENTRY_LENGTH } from './content.ts';
import type { PeLayout } from './layout.ts';
import type { MeasuredContent } from './measured-content.ts';
import { words } from './words.ts';

/**
 * What is left is the file as it was before it was signed, but for CheckSum, which nobody remembers and is right now, and
 * for up to 7 zeros of padding. A stale directory entry alone is no table. Throws `not-signed`.
 */
export async function removeTable(layout: PeLayout, content: () => Promise<MeasuredContent>): Promise<Patch> {
  const { table, checksumOffset, tableEntryOffset, programEnd, fileSize } = layout;
  if (table === undefined) throw formatErrors('not-signed');
  // The directory entry is zero then, which adds nothing.
  const checksum = imageChecksum((await content()).sum, [], programEnd);
  return [
    { offset: checksumOffset, remove: CHECKSUM_LENGTH, insert: [words(checksum)] },
    { offset: tableEntryOffset, remove: TABLE_ENTRY_LENGTH, insert: [words(0, 0)] },
    { offset: programEnd, remove: fileSize - programEnd, insert: [] },
  ];
}
