/** The check of a signed PE file after it was written and opened again: what is in it now against what was to be written. */

import { readAuthenticode } from '../../authenticode/read-authenticode.ts';
import type { ByteSource } from '../../bytes/byte-source.ts';
import type { MeasureContent } from '../../crypto/content.ts';
import { CodesignError } from '../../errors/codesign-error.ts';
import { formatErrors } from '../errors.ts';
import type { ExpectedEnvelope } from '../format.ts';
import {
  align8,
  type CertificateTable,
  readCertificates,
  WIN_CERT_REVISION_2_0,
  WIN_CERT_TYPE_PKCS_SIGNED_DATA,
  WIN_CERTIFICATE_HEADER_LENGTH,
} from './certificate-table.ts';
import { imageChecksum } from './checksum.ts';
import { contentAsIs, TABLE_ENTRY_LENGTH } from './content.ts';
import type { PeLayout } from './layout.ts';

/**
 * Holds the file to: one certificate table, aligned, at its very end, with one WIN_CERTIFICATE whose CMS is the expected
 * one, byte for byte; the content has the digests that it and the new signature say; CheckSum is right.
 * One pass over the content. Throws `result-damaged`.
 */
export async function checkResult(
  source: ByteSource,
  layout: PeLayout,
  measure: MeasureContent,
  expected: ExpectedEnvelope,
): Promise<void> {
  const table = requireTable(layout);
  const [outer] = expected.standing.map(({ bytes }) => bytes);
  if (outer === undefined || expected.standing.length > 1) throw new TypeError('a PE holds one envelope');
  const tableBytes = await readOnlyCertificate(source, table, outer.length);
  const signatures = readSigned(tableBytes, expected.sealed.bytes, outer);

  const algorithms = new Set(signatures.map(({ algorithm }) => algorithm));
  const { digests, sum16 } = await measure(source, contentAsIs(layout), [...algorithms, 'SUM16']);
  for (const { algorithm, contentDigest } of signatures) {
    const actual = digests.get(algorithm);
    if (actual === undefined || !Buffer.from(actual).equals(contentDigest)) {
      throw damaged(`its ${algorithm} digest is not the one that was signed`);
    }
  }

  const entry = await source.read(layout.tableEntryOffset, TABLE_ENTRY_LENGTH);
  const others = [
    { offset: layout.tableEntryOffset, bytes: entry },
    { offset: table.offset, bytes: tableBytes },
  ];
  if (sum16 === undefined || imageChecksum(sum16, others, source.size) !== layout.checksum) {
    throw damaged('the checksum in its header is wrong');
  }
}

function requireTable({ table, fileSize }: PeLayout): CertificateTable {
  if (table === undefined) throw damaged('it holds no signature');
  if (align8(table.offset) !== table.offset) throw damaged('the signature does not begin at a multiple of 8 bytes');
  if (table.offset + table.size !== fileSize) throw damaged('the signature does not end where the file does');
  return table;
}

/** All bytes of the table, which holds one WIN_CERTIFICATE and nothing else. */
async function readOnlyCertificate(
  source: ByteSource,
  table: CertificateTable,
  cmsLength: number,
): Promise<Uint8Array> {
  const { certificates } = await readCertificates(source, table);
  const [certificate] = certificates;
  const sound =
    certificates.length === 1 &&
    certificate?.length === table.size &&
    certificate.revision === WIN_CERT_REVISION_2_0 &&
    certificate.type === WIN_CERT_TYPE_PKCS_SIGNED_DATA;
  if (!sound || table.size < cmsLength) throw damaged('its table of signatures is not the one that was written');
  return source.read(table.offset, table.size);
}

/** The signatures whose digests must fit the file: the new one, and the one it is nested in, if any. */
function readSigned(tableBytes: Uint8Array, sealed: Uint8Array, outer: Uint8Array) {
  const data = Buffer.from(tableBytes.subarray(WIN_CERTIFICATE_HEADER_LENGTH));
  if (!isWithPadding(data, outer)) throw damaged('its signature is not the one that was made');
  return [readSignature(sealed), readSignature(outer)];
}

function readSignature(cms: Uint8Array) {
  try {
    const { contentDigestAlgorithm: algorithm, contentDigest } = readAuthenticode(cms);
    if (algorithm === undefined) throw damaged('its signature uses another digest algorithm');
    return { algorithm, contentDigest };
  } catch (thrown) {
    if (!(thrown instanceof CodesignError) || thrown.code === 'result-damaged') throw thrown;
    throw damaged(`its signature cannot be read: ${thrown.message}`, thrown);
  }
}

/** Whether `data` is `cms` and fewer than 8 zero bytes. */
function isWithPadding(data: Buffer, cms: Uint8Array): boolean {
  const rest = data.subarray(cms.length);
  return rest.length < 8 && rest.every((byte) => byte === 0) && data.subarray(0, cms.length).equals(cms);
}

function damaged(reason: string, cause?: unknown): CodesignError {
  return formatErrors('result-damaged', { reason }, { cause });
}
