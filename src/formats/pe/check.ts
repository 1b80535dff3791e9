/** The check of a signed PE file after it was written and opened again: nothing in it is taken from what was to be written. */

import { type AuthenticodeSignature, readAuthenticode } from '../../authenticode/read-authenticode.ts';
import type { ByteSource } from '../../bytes/byte-source.ts';
import type { MeasureContent } from '../../crypto/content.ts';
import { CodesignError } from '../../errors/codesign-error.ts';
import type { SigningMode } from '../format.ts';
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
import { peErrors } from './errors.ts';
import type { PeLayout } from './layout.ts';

/**
 * Holds the file to: one certificate table, aligned, at its very end, with one WIN_CERTIFICATE whose CMS is `sealed`
 * (append: or has `sealed` nested in it); the content has the digests that both say; CheckSum is right.
 * One pass over the content. Throws `result-damaged`.
 */
export async function checkResult(
  source: ByteSource,
  layout: PeLayout,
  measure: MeasureContent,
  sealed: Uint8Array,
  mode: SigningMode,
): Promise<void> {
  const table = requireTable(layout);
  const tableBytes = await readOnlyCertificate(source, table, sealed.length);
  const signatures = readSigned(tableBytes, sealed, mode);

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
  sealedLength: number,
): Promise<Uint8Array> {
  const { certificates } = await readCertificates(source, table);
  const [certificate] = certificates;
  const sound =
    certificates.length === 1 &&
    certificate?.length === table.size &&
    certificate.revision === WIN_CERT_REVISION_2_0 &&
    certificate.type === WIN_CERT_TYPE_PKCS_SIGNED_DATA;
  if (!sound || table.size < sealedLength) throw damaged('its table of signatures is not the one that was written');
  return source.read(table.offset, table.size);
}

/** The signatures whose digests must fit the file: `sealed`, and the one it is nested in, if any. */
function readSigned(tableBytes: Uint8Array, sealed: Uint8Array, mode: SigningMode) {
  const data = Buffer.from(tableBytes.subarray(WIN_CERTIFICATE_HEADER_LENGTH));
  try {
    if (isWithPadding(data, sealed)) return required([readAuthenticode(sealed)]);
    if (mode === 'append') {
      const outer = readAuthenticode(data);
      // Nested signatures are a SET, in DER order: the new one can be any of them.
      const ours = outer.nested.find(({ cms }) => Buffer.from(cms).equals(sealed));
      if (ours !== undefined && isWithPadding(data, outer.cms)) {
        return required([ours, outer]);
      }
    }
  } catch (thrown) {
    if (!(thrown instanceof CodesignError) || thrown.code === 'result-damaged') throw thrown;
    throw damaged(`its signature cannot be read: ${thrown.message}`, thrown);
  }
  throw damaged('its signature is not the one that was made');
}

type Signed = Pick<AuthenticodeSignature, 'algorithm' | 'contentDigest'>;

function required(signatures: readonly Signed[]) {
  return signatures.map(({ algorithm, contentDigest }) => {
    if (algorithm === undefined) throw damaged('its signature uses another digest algorithm');
    return { algorithm, contentDigest };
  });
}

/** Whether `data` is `cms` and fewer than 8 zero bytes. */
function isWithPadding(data: Buffer, cms: Uint8Array): boolean {
  const rest = data.subarray(cms.length);
  return rest.length < 8 && rest.every((byte) => byte === 0) && data.subarray(0, cms.length).equals(cms);
}

function damaged(reason: string, cause?: unknown): CodesignError {
  return peErrors('result-damaged', { reason }, { cause });
}
