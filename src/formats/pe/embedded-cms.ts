import { readElement } from '../../asn1/read.ts';
import type { ByteSource } from '../../bytes/byte-source.ts';
import { orUndefined } from '../../errors/codesign-error.ts';
import { formatWarnings } from '../../format/errors.ts';
import {
  type CertificateEntries,
  isZero,
  WIN_CERT_TYPE_PKCS_SIGNED_DATA,
  WIN_CERTIFICATE_ALIGNMENT,
  WIN_CERTIFICATE_HEADER_LENGTH,
  type WinCertificate,
} from './certificate-table.ts';
import { peWarnings } from './errors.ts';

/**
 * Signatures are read only from the first part of the table, which has this length. A signature is a few kilobytes
 * long, or a few hundred kilobytes if it contains many nested signatures. An entry that extends beyond this length is
 * not a signature. A limit on the position also limits the total size of all entries.
 */
export const READABLE_LENGTH = 16 * 1024 * 1024;
const SEQUENCE = 0x30;
/** The tag, the first length octet, and up to 4 more length octets. */
const LONGEST_HEADER = 6;
/** Length octet that introduces the indefinite form, in which end-of-contents octets mark the end. */
const INDEFINITE = 0x80;

const TYPE_NAMES: ReadonlyMap<number, string> = new Map([
  [1, 'an X.509 certificate'],
  [WIN_CERT_TYPE_PKCS_SIGNED_DATA, 'a PKCS#7 signature'],
  [3, 'an entry of a reserved type'],
  [4, 'a TS stack certificate'],
  [0x0ef0, 'an EFI PKCS#1 v1.5 signature'],
  [0x0ef1, 'an EFI signature with a GUID'],
]);

/** Ignores the revision in the WIN_CERTIFICATE, because both 1.0 and 2.0 occur. */
export function holdsCms(certificate: WinCertificate): boolean {
  return certificate.type === WIN_CERT_TYPE_PKCS_SIGNED_DATA;
}

/**
 * Returns the CMS without the bytes that follow it in the WIN_CERTIFICATE. If the data does not begin with a complete
 * SEQUENCE, returns all of it; the CMS reader then reports the error. Returns undefined if the CMS extends beyond the
 * part of the table that is read. The signatures in one table are less than 16 MiB long in total.
 */
export async function readCms(source: ByteSource, certificate: WinCertificate): Promise<Uint8Array | undefined> {
  const { start, end } = dataRange(certificate);
  const length = (await cmsLength(source, certificate)) ?? end - start;
  if (!isReadable(certificate, length)) return undefined;
  // Copies the bytes, because a source in memory returns views of its data, and a signature may be needed longer than
  // the file.
  return Uint8Array.from(await source.read(start, length));
}

/** Returns warnings about data that would be lost if the table is replaced, and about data that deceives verifiers. */
export async function describeOddities(source: ByteSource, entries: CertificateEntries): Promise<readonly string[]> {
  const { certificates, damage } = entries;
  const warnings: string[] = [];
  if (damage !== undefined) warnings.push(peWarnings('table-damaged', { damage }));
  if (certificates.length > 1) {
    warnings.push(peWarnings('table-entries-dropped', { count: certificates.length }));
  }
  for (const certificate of certificates) {
    if (!holdsCms(certificate)) {
      warnings.push(peWarnings('table-entry-dropped', { what: typeName(certificate.type) }));
    } else if ((await hiddenLength(source, certificate)) > 0) {
      warnings.push(formatWarnings('hidden-bytes-dropped', { where: 'after a signature (CVE-2013-3900)' }));
    }
  }
  return warnings;
}

export function typeName(type: number): string {
  return TYPE_NAMES.get(type) ?? `an entry of the unknown type 0x${type.toString(16).padStart(4, '0')}`;
}

/** Returns the number of bytes after the CMS, not counting padding. Padding consists of at most 7 zeros. */
export async function hiddenLength(source: ByteSource, certificate: WinCertificate): Promise<number> {
  const { start, end } = dataRange(certificate);
  const length = await cmsLength(source, certificate);
  if (length === undefined) return 0;
  const rest = end - start - length;
  return rest >= WIN_CERTIFICATE_ALIGNMENT || !(await isZero(source, start + length, end)) ? rest : 0;
}

function dataRange({ offset, length }: WinCertificate): { start: number; end: number } {
  return { start: offset + WIN_CERTIFICATE_HEADER_LENGTH, end: offset + length };
}

function isReadable({ position }: WinCertificate, length: number): boolean {
  return position + WIN_CERTIFICATE_HEADER_LENGTH + length <= READABLE_LENGTH;
}

/**
 * Returns the length of the SEQUENCE at the start of the data, including its header. Returns undefined if there is no
 * complete SEQUENCE. If the length is indefinite (BER), reads the SEQUENCE to find its end, unless it extends beyond
 * the part of the table that is read.
 */
async function cmsLength(source: ByteSource, certificate: WinCertificate): Promise<number | undefined> {
  const { start, end } = dataRange(certificate);
  const head = await source.read(start, Math.min(LONGEST_HEADER, end - start));
  const [tag, first] = head;
  if (tag !== SEQUENCE || first === undefined) return undefined;
  if (first === INDEFINITE) {
    if (!isReadable(certificate, end - start)) return undefined;
    const data = await source.read(start, end - start);
    return orUndefined(() => readElement(data, 'CMS'))?.bytes.length;
  }
  let length = 2 + first;
  if (first > INDEFINITE) {
    const count = first - INDEFINITE;
    if (count > 4 || head.length < 2 + count) return undefined;
    length = 2 + count + head.subarray(2, 2 + count).reduce((value, byte) => value * 256 + byte, 0);
  }
  return length <= end - start ? length : undefined;
}
