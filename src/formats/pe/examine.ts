import type { ByteSource } from '../../bytes/byte-source.ts';
import { areZero } from '../../bytes/pieces.ts';
import { broken, type Finding, note, unsupported, warning } from '../../errors/finding.ts';
import { plural } from '../../errors/plural.ts';
import {
  align8,
  type CertificateEntries,
  type CertificateTable,
  hex,
  typeName,
  WIN_CERT_REVISION_1_0,
  WIN_CERT_REVISION_2_0,
  WIN_CERTIFICATE_ALIGNMENT,
  type WinCertificate,
} from './certificate-table.ts';
import { type MeasuredProgram, readChecksum } from './content.ts';
import type { PeLayout } from './layout.ts';

export async function examinePe(
  source: ByteSource,
  layout: PeLayout,
  entries: CertificateEntries,
  content: () => Promise<MeasuredProgram>,
): Promise<readonly Finding[]> {
  const { table } = layout;
  const isSigned = entries.certificates.some(({ stored }) => stored !== undefined);
  return [
    ...examineDirectory(layout),
    ...(table === undefined ? [] : await examineTable(source, table, entries)),
    ...(await examineChecksum(source, layout, isSigned, content)),
  ];
}

function examineDirectory({ table, tableEntry, fileSize }: PeLayout): readonly Finding[] {
  const { offset, size } = tableEntry;
  if (table === undefined) {
    if (offset === 0 && size === 0) return [];
    const message = `According to the header, there are ${plural(size, 'byte')} of signatures at byte ${offset}, but there are none.`;
    return [note('certificate-table-stale', message)];
  }
  const findings: Finding[] = [];
  if (align8(offset) !== offset) {
    const message = `The certificate table begins at byte ${offset}, which is not a multiple of 8.`;
    findings.push(note('certificate-table-unaligned', message));
  }
  if (offset + size !== fileSize) {
    const message = `According to the header, the certificate table ends at byte ${offset + size}, but the file ends at byte ${fileSize}.`;
    findings.push(note('certificate-table-size-differs', message));
  }
  return findings;
}

async function examineTable(
  source: ByteSource,
  table: CertificateTable,
  { certificates, damage }: CertificateEntries,
): Promise<readonly Finding[]> {
  const findings = certificates.flatMap(examineEntry);
  if (certificates.length > 1) {
    findings.push(note('certificate-table-several', `The certificate table has ${certificates.length} entries.`));
  }
  if (damage !== undefined) {
    findings.push(broken('certificate-table-damaged', `The certificate table is damaged: ${damage}.`));
  } else if (!(await hasPlainPadding(source, table, certificates))) {
    const message = 'Bytes that no signature covers are hidden in the certificate table, between or after its entries.';
    findings.push(broken('hidden-bytes', message));
  }
  return findings;
}

function examineEntry({ type, revision, offset, stored }: WinCertificate): Finding[] {
  const findings: Finding[] = [];
  if (stored === undefined) {
    const message = `The certificate table contains ${typeName(type)} at byte ${offset}, which no signature covers.`;
    findings.push(unsupported('certificate-table-other-type', message));
  }
  if (revision === WIN_CERT_REVISION_1_0) {
    const message = `The entry of the certificate table at byte ${offset} has the old revision 1.0.`;
    findings.push(note('certificate-table-revision-old', message));
  } else if (revision !== WIN_CERT_REVISION_2_0) {
    const message = `The entry of the certificate table at byte ${offset} has the unknown revision ${hex(revision, 4)}.`;
    findings.push(unsupported('certificate-table-revision-unknown', message));
  }
  return findings;
}

async function hasPlainPadding(
  source: ByteSource,
  table: CertificateTable,
  certificates: readonly WinCertificate[],
): Promise<boolean> {
  const tableEnd = table.offset + table.size;
  for (const [index, { offset, length }] of certificates.entries()) {
    const next = certificates[index + 1]?.offset ?? tableEnd;
    const start = offset + length;
    const isShort = next - start < WIN_CERTIFICATE_ALIGNMENT;
    if (!isShort || (next > start && !(await areZero(source, [{ start, end: next }])))) return false;
  }
  return true;
}

/**
 * The digest does not cover CheckSum, and linkers often write zero. Signing programs compute CheckSum, so any other
 * wrong value shows that the file was changed after it was signed.
 */
async function examineChecksum(
  source: ByteSource,
  layout: PeLayout,
  isSigned: boolean,
  content: () => Promise<MeasuredProgram>,
): Promise<readonly Finding[]> {
  const { checksum } = layout;
  const actual = await readChecksum(source, layout, (await content()).sum);
  if (checksum === actual) return [];
  if (checksum === 0)
    return isSigned ? [note('checksum-missing', 'CheckSum in the header is zero: the file has none.')] : [];
  const message = `CheckSum in the header is ${hex(checksum, 8)}, but the checksum of the file is ${hex(actual, 8)}.`;
  return [isSigned ? broken('checksum-wrong', message) : warning('checksum-wrong', message)];
}
