import type { Patch } from '../../bytes/pieces.ts';
import { addSum16 } from '../../crypto/measure-content.ts';
import {
  align8,
  WIN_CERT_REVISION_2_0,
  WIN_CERT_TYPE_PKCS_SIGNED_DATA,
  WIN_CERTIFICATE_HEADER_LENGTH,
} from './certificate-table.ts';
import { CHECKSUM_LENGTH, checksumOf, TABLE_ENTRY_LENGTH } from './content.ts';
import { MAXIMUM_SIZE, type PeLayout, tooLarge } from './layout.ts';

/** Replaces the old certificate table, including all its entries. `contentSum` is the SUM16 of `contentToSign`. */
export function embedCms(layout: PeLayout, contentSum: number, cms: Uint8Array): Patch {
  const tableOffset = align8(layout.programEnd);
  const table = certificateTable(cms);
  const fileSize = tableOffset + table.length;
  if (fileSize > MAXIMUM_SIZE) throw tooLarge(fileSize);

  const entry = words(tableOffset, table.length);
  const sum = addSum16(addSum16(contentSum, entry, layout.tableEntryOffset), table, tableOffset);
  const padding = new Uint8Array(tableOffset - layout.programEnd);
  return [
    { offset: layout.checksumOffset, remove: CHECKSUM_LENGTH, insert: [words(checksumOf(sum, fileSize))] },
    { offset: layout.tableEntryOffset, remove: TABLE_ENTRY_LENGTH, insert: [entry] },
    { offset: layout.programEnd, remove: layout.fileSize - layout.programEnd, insert: [padding, table] },
  ];
}

/** Returns one WIN_CERTIFICATE. Like signtool, includes the padding in dwLength. */
function certificateTable(cms: Uint8Array): Uint8Array {
  const table = new Uint8Array(align8(WIN_CERTIFICATE_HEADER_LENGTH + cms.length));
  const view = new DataView(table.buffer);
  view.setUint32(0, table.length, true);
  view.setUint16(4, WIN_CERT_REVISION_2_0, true);
  view.setUint16(6, WIN_CERT_TYPE_PKCS_SIGNED_DATA, true);
  table.set(cms, WIN_CERTIFICATE_HEADER_LENGTH);
  return table;
}

/** The program stays as it was before signing, except for CheckSum and up to 7 zeros of padding. */
export function removeTable(layout: PeLayout, contentSum: number): Patch {
  const { checksumOffset, tableEntryOffset, programEnd, fileSize } = layout;
  // The directory entry becomes zero, so it adds nothing to the sum.
  return [
    { offset: checksumOffset, remove: CHECKSUM_LENGTH, insert: [words(checksumOf(contentSum, programEnd))] },
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
