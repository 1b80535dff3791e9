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
 * How much of a table is read for signatures, from its start. They are a few kilobytes, with many nested ones a few hundred;
 * what reaches further is not one. A bound on the place bounds what all of them take together.
 */
export const READABLE_LENGTH = 16 * 1024 * 1024;
const SEQUENCE = 0x30;
/** Tag, and a length of up to 4 bytes after its own first one. */
const LONGEST_HEADER = 6;
/** The length octet that says: up to the end-of-contents octets. */
const INDEFINITE = 0x80;

const TYPE_NAMES: ReadonlyMap<number, string> = new Map([
  [1, 'an X.509 certificate'],
  [WIN_CERT_TYPE_PKCS_SIGNED_DATA, 'a PKCS#7 signature'],
  [3, 'an entry of a reserved type'],
  [4, 'a TS stack certificate'],
  [0x0ef0, 'an EFI PKCS#1 v1.5 signature'],
  [0x0ef1, 'an EFI signature with a GUID'],
]);

/** Whether a WIN_CERTIFICATE says that it holds a CMS. Its revision is not asked: 1.0 and 2.0 both occur. */
export function holdsCms(certificate: WinCertificate): boolean {
  return certificate.type === WIN_CERT_TYPE_PKCS_SIGNED_DATA;
}

/**
 * The bytes of the CMS without what follows it in the WIN_CERTIFICATE. All of the data where it does not begin with a
 * SEQUENCE that fits: what that is, is for the CMS reader to say. `undefined` when it reaches beyond what is read of a
 * table: all that this gives for one table is less than 16 MiB.
 */
export async function readCms(source: ByteSource, certificate: WinCertificate): Promise<Uint8Array | undefined> {
  const { start, end } = dataRange(certificate);
  const length = (await cmsLength(source, certificate)) ?? end - start;
  if (!isReadable(certificate, length)) return undefined;
  // A copy, since a source over memory gives views and a signature may outlive the file.
  return Uint8Array.from(await source.read(start, length));
}

/** Warnings about what replacing the signatures would drop without a word, and what deceives verifiers. */
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
      warnings.push(formatWarnings('hidden-bytes-dropped', { where: 'behind a signature (CVE-2013-3900)' }));
    }
  }
  return warnings;
}

/** For people, with its article. */
export function typeName(type: number): string {
  return TYPE_NAMES.get(type) ?? `an entry of the unknown type 0x${type.toString(16).padStart(4, '0')}`;
}

/** How many bytes stand after the CMS that are more than padding, which is at most 7 zeros; 0 when there is no CMS. */
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
 * The length of the SEQUENCE that the data begins with, header included; undefined when none fits. One of indefinite length
 * (BER) is read to find its end, unless it reaches beyond what is read of a table.
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
