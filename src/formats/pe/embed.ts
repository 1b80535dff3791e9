import type { Patch } from '../../bytes/pieces.ts';
import { formatErrors } from '../../format/errors.ts';
import {
  align8,
  WIN_CERT_REVISION_2_0,
  WIN_CERT_TYPE_PKCS_SIGNED_DATA,
  WIN_CERTIFICATE_HEADER_LENGTH,
} from './certificate-table.ts';
import { CHECKSUM_LENGTH, imageChecksum, type MeasuredProgram, TABLE_ENTRY_LENGTH } from './content.ts';
import { MAXIMUM_SIZE, type PeLayout, tooLarge } from './layout.ts';

/** Replaces the old certificate table, including all its entries. `contentSum` is the SUM16 of `contentToSign`. */
export function embedCms(layout: PeLayout, contentSum: number, cms: Uint8Array): Patch {
  const tableOffset = align8(layout.programEnd);
  const table = certificateTable(cms);
  const fileSize = tableOffset + table.length;
  if (fileSize > MAXIMUM_SIZE) throw tooLarge(fileSize);

  const entry = words(tableOffset, table.length);
  const checksum = imageChecksum(
    contentSum,
    [
      { offset: layout.tableEntryOffset, bytes: entry },
      { offset: tableOffset, bytes: table },
    ],
    fileSize,
  );

  const padding = new Uint8Array(tableOffset - layout.programEnd);
  return [
    { offset: layout.checksumOffset, remove: CHECKSUM_LENGTH, insert: [words(checksum)] },
    { offset: layout.tableEntryOffset, remove: TABLE_ENTRY_LENGTH, insert: [entry] },
    { offset: layout.programEnd, remove: layout.fileSize - layout.programEnd, insert: [padding, table] },
  ];
}

/** Returns one WIN_CERTIFICATE. As in files that signtool signed, dwLength includes the padding. */
function certificateTable(cms: Uint8Array): Uint8Array {
  const table = new Uint8Array(align8(WIN_CERTIFICATE_HEADER_LENGTH + cms.length));
  const view = new DataView(table.buffer);
  view.setUint32(0, table.length, true);
  view.setUint16(4, WIN_CERT_REVISION_2_0, true);
  view.setUint16(6, WIN_CERT_TYPE_PKCS_SIGNED_DATA, true);
  table.set(cms, WIN_CERTIFICATE_HEADER_LENGTH);
  return table;
}

/**
 * Restores the file as it was before signing, except that CheckSum is correct and up to 7 zeros of padding may remain.
 */
export async function removeTable(layout: PeLayout, content: () => Promise<MeasuredProgram>): Promise<Patch> {
  const { table, checksumOffset, tableEntryOffset, programEnd, fileSize } = layout;
  if (table === undefined) throw formatErrors('not-signed');
  // After the signature has been removed, the directory entry is zero and adds nothing to the sum.
  const checksum = imageChecksum((await content()).sum, [], programEnd);
  return [
    { offset: checksumOffset, remove: CHECKSUM_LENGTH, insert: [words(checksum)] },
    { offset: tableEntryOffset, remove: TABLE_ENTRY_LENGTH, insert: [words(0, 0)] },
    { offset: programEnd, remove: fileSize - programEnd, insert: [] },
  ];
}

function words(...values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(values.length * 4);
  const view = new DataView(bytes.buffer);
  for (const [index, value] of values.entries()) view.setUint32(index * 4, value, true);
  return bytes;
}
