/** The signature beside which another one can stand: appending nests the new one in it, so it must be sound. */

import { type DataTypes, examineDataType } from '../../authenticode/examine-data-type.ts';
import { type AuthenticodeSignature, readAuthenticode } from '../../authenticode/read-authenticode.ts';
import type { ByteSource } from '../../bytes/byte-source.ts';
import type { DigestAlgorithm } from '../../crypto/algorithms.ts';
import type { Measurement } from '../../crypto/content.ts';
import { CodesignError } from '../../errors/codesign-error.ts';
import { speaksAgainst } from '../../errors/finding.ts';
import { formatErrors } from '../errors.ts';
import { align8, type CertificateEntries } from './certificate-table.ts';
import { dataTypesOf } from './data-types.ts';
import { holdsCms, readCms } from './embedded-cms.ts';
import type { PeLayout } from './layout.ts';

export interface OuterSignature {
  readonly cms: Uint8Array;
  readonly algorithm: DigestAlgorithm;
  readonly contentDigest: Uint8Array;
}

/**
 * The one signature of the file; undefined when the file has none, and the new one is the first. Throws `cannot-append`
 * for any file whose result no verifier would accept, so that no signature is spent on it.
 */
export async function readOuterSignature(
  source: ByteSource,
  layout: PeLayout,
  { certificates, damage }: CertificateEntries,
): Promise<OuterSignature | undefined> {
  if (layout.table === undefined) return undefined;
  if (damage !== undefined) throw cannotAppend(`their table is damaged (${damage})`);
  const [certificate] = certificates;
  if (certificate === undefined || certificates.length > 1) {
    throw cannotAppend(`there are ${certificates.length} entries in their table, and a new one nests in the only one`);
  }
  if (!holdsCms(certificate)) throw cannotAppend('what is there is no Authenticode signature');
  if (align8(layout.programEnd) !== layout.programEnd) {
    throw cannotAppend('their table is not aligned to 8 bytes, and moving it would break them');
  }
  const cms = await readCms(source, certificate);
  if (cms === undefined) throw cannotAppend('the signature there is too long to be one');
  return readSound(cms, dataTypesOf(layout.program));
}

/** Throws `cannot-append` when the signature no longer fits the file; `measurement` has the digest in its algorithm. */
export function requireUnchanged(outer: OuterSignature, measurement: Measurement): void {
  const actual = measurement.digests.get(outer.algorithm);
  if (actual === undefined || !Buffer.from(actual).equals(outer.contentDigest)) {
    throw cannotAppend('the program was changed after it was signed');
  }
}

function readSound(bytes: Uint8Array, types: DataTypes): OuterSignature {
  try {
    const outer = readAuthenticode(bytes);
    const { cms, algorithm, contentDigest, verifies } = outer;
    if (algorithm === undefined)
      throw cannotAppend('the signature there uses a digest algorithm that is not supported');
    if (!verifies()) throw cannotAppend('the signature there does not verify');
    if (!fitsTypes(outer, types)) throw cannotAppend('a signature there was made for another kind of file');
    return { cms, algorithm, contentDigest };
  } catch (thrown) {
    if (!(thrown instanceof CodesignError) || thrown.code === 'cannot-append') throw thrown;
    throw cannotAppend(`the signature there cannot be read: ${thrown.message}`, thrown);
  }
}

/** Also holds the signatures nested in it to the format: `verify` rejects the whole file for one that does not fit. */
function fitsTypes(signature: AuthenticodeSignature, types: DataTypes): boolean {
  if (speaksAgainst(examineDataType(signature, types), 'integrity')) return false;
  return signature.nested.every((inner) => fitsTypes(inner, types));
}

function cannotAppend(reason: string, cause?: unknown): CodesignError {
  return formatErrors('cannot-append', { reason }, { cause });
}
