/** The attribute certificate table with its WIN_CERTIFICATE entries ("PE Format", The Attribute Certificate Table). */

import { LONGEST_CMS, readStoredCms, type StoredCms, TOO_LONG } from '../../authenticode/stored-cms.ts';
import type { ByteSource } from '../../bytes/byte-source.ts';
import { Cursor } from '../../bytes/cursor.ts';
import { bytesErrors } from '../../bytes/errors.ts';
import { areZero, type ByteRange } from '../../bytes/pieces.ts';
import { plural } from '../../errors/plural.ts';
import { peErrors, peWarnings } from './errors.ts';

export interface CertificateTable {
  readonly offset: number;
  readonly size: number;
}

export interface WinCertificate {
  readonly offset: number;
  /** dwLength: length of the header and the data. */
  readonly length: number;
  readonly revision: number;
  readonly type: number;
  /** undefined if the entry is not of the type PKCS#7. */
  readonly stored: StoredCms | undefined;
}

export interface CertificateEntries {
  readonly certificates: readonly WinCertificate[];
  readonly damage: string | undefined;
}

export const WIN_CERTIFICATE_HEADER_LENGTH = 8;
export const WIN_CERTIFICATE_ALIGNMENT = 8;
export const WIN_CERT_REVISION_1_0 = 0x0100;
export const WIN_CERT_REVISION_2_0 = 0x0200;
export const WIN_CERT_TYPE_PKCS_SIGNED_DATA = 0x0002;

const TYPE_NAMES: ReadonlyMap<number, string> = new Map([
  [1, 'an X.509 certificate'],
  [WIN_CERT_TYPE_PKCS_SIGNED_DATA, 'a PKCS#7 signature'],
  [3, 'an entry of a reserved type'],
  [4, 'a TS stack certificate'],
  [0x0ef0, 'an EFI PKCS#1 v1.5 signature'],
  [0x0ef1, 'an EFI signature with a GUID'],
]);
/** No signing program writes more than three entries. */
const MOST_CERTIFICATES = 64;

export function align8(length: number): number {
  return Math.ceil(length / WIN_CERTIFICATE_ALIGNMENT) * WIN_CERTIFICATE_ALIGNMENT;
}

/**
 * Checks that the certificate table is at the end of the file, because replacing any other bytes would destroy data. A
 * directory entry that does not point to a table is stale and causes a warning.
 */
export async function locateCertificateTable(
  source: ByteSource,
  entry: CertificateTable,
  sections: Sections,
): Promise<{ table: CertificateTable | undefined; warning?: string }> {
  const { offset, size } = entry;
  if (offset === 0 && size === 0) return { table: undefined };
  const warning = peWarnings('table-entry-stale', { size: plural(size, 'byte'), offset });
  if (offset === 0 || size === 0 || offset >= source.size) return { table: undefined, warning };

  const end = offset + size;
  if (end > source.size) throw bytesErrors('file-truncated', { what: 'its certificate table', end, size: source.size });
  if (!(await endsTheFile(source, end))) {
    // Programs that move sections, such as postject, overwrite the table but leave an entry with its old offset.
    const isInSection = sections.data.some((section) => section.start <= offset && offset < section.end);
    if (isInSection && !(await isWinCertificate(source, entry))) return { table: undefined, warning };
    throw peErrors('certificate-table-not-last', { offset, end, size: source.size });
  }
  if (offset < sections.headersEnd) {
    throw peErrors('certificate-table-overlaps', { what: 'headers', offset, end: sections.headersEnd });
  }
  const overlapped = sections.data.find((section) => section.end > offset);
  if (overlapped !== undefined) {
    throw peErrors('certificate-table-overlaps', { what: "program's own data", offset, end: overlapped.end });
  }
  return { table: entry };
}

export async function readCertificates(source: ByteSource, table: CertificateTable): Promise<CertificateEntries> {
  const certificates: WinCertificate[] = [];
  const end = table.offset + table.size;
  let offset = table.offset;
  while (offset + WIN_CERTIFICATE_HEADER_LENGTH <= end) {
    const header = await readHeader(source, offset);
    const { length } = header;
    if (length === 0 && certificates.length > 0 && (await areZero(source, [{ start: offset, end }]))) break;
    if (length < WIN_CERTIFICATE_HEADER_LENGTH || offset + length > end) {
      const room = end - offset;
      return {
        certificates,
        damage: `the one at byte ${offset} says it is ${plural(length, 'byte')} long, in a table with room for ${room}`,
      };
    }
    if (certificates.length === MOST_CERTIFICATES) {
      return { certificates, damage: `there are more than ${MOST_CERTIFICATES}` };
    }
    certificates.push({ ...header, offset, stored: await readStored(source, table, offset, header) });
    offset += align8(length);
  }
  if (certificates.length === 0) return { certificates, damage: 'the table is too short to hold one' };
  return { certificates, damage: undefined };
}

/** The limit on the length applies to all entries together. */
async function readStored(
  source: ByteSource,
  table: CertificateTable,
  offset: number,
  { length, type }: Pick<WinCertificate, 'length' | 'type'>,
): Promise<StoredCms | undefined> {
  if (type !== WIN_CERT_TYPE_PKCS_SIGNED_DATA) return undefined;
  const end = offset + length;
  if (end - table.offset > LONGEST_CMS) return TOO_LONG;
  return await readStoredCms(source, { start: offset + WIN_CERTIFICATE_HEADER_LENGTH, end });
}

export function typeName(type: number): string {
  return TYPE_NAMES.get(type) ?? `an entry of the unknown type ${hex(type, 4)}`;
}

export const hex = (value: number, digits: number): string => `0x${value.toString(16).padStart(digits, '0')}`;

async function readHeader(source: ByteSource, offset: number) {
  const cursor = new Cursor(await source.read(offset, WIN_CERTIFICATE_HEADER_LENGTH), offset);
  const length = cursor.u32('dwLength');
  return { length, revision: cursor.u16('wRevision'), type: cursor.u16('wCertificateType') };
}

/** Accepts up to 7 zeros after the table: in some files, Size in the directory entry omits the padding. */
async function endsTheFile(source: ByteSource, end: number): Promise<boolean> {
  if (end === source.size) return true;
  return align8(end) === source.size && (await areZero(source, [{ start: end, end: source.size }]));
}

async function isWinCertificate(source: ByteSource, { offset, size }: CertificateTable): Promise<boolean> {
  if (size < WIN_CERTIFICATE_HEADER_LENGTH) return false;
  const { length, revision, type } = await readHeader(source, offset);
  return (
    length >= WIN_CERTIFICATE_HEADER_LENGTH &&
    align8(length) <= align8(size) &&
    (revision === WIN_CERT_REVISION_1_0 || revision === WIN_CERT_REVISION_2_0) &&
    TYPE_NAMES.has(type)
  );
}

interface Sections {
  readonly headersEnd: number;
  readonly data: readonly ByteRange[];
}

const SECTION_LENGTH = 40;

export async function readSections(source: ByteSource, offset: number, count: number): Promise<Sections> {
  const length = count * SECTION_LENGTH;
  const headersEnd = offset + length;
  if (headersEnd > source.size) {
    throw bytesErrors('file-truncated', { what: 'its section table', end: headersEnd, size: source.size });
  }

  const cursor = new Cursor(await source.read(offset, length), offset);
  const data: ByteRange[] = [];
  for (let index = 0; index < count; index++) {
    const size = cursor.skip(16, 'Name, VirtualSize, VirtualAddress').u32('SizeOfRawData');
    const start = cursor.u32('PointerToRawData');
    cursor.skip(16, 'section header');
    if (start === 0 || size === 0) continue;
    // The file is probably an incomplete download. EFI firmware and sbverify read section by section, and reject such a
    // file.
    const end = start + size;
    const what = `its section ${index + 1} of ${count}`;
    if (end > source.size) throw bytesErrors('file-truncated', { what, end, size: source.size });
    data.push({ start, end });
  }
  return { headersEnd, data };
}
