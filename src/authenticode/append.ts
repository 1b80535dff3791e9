/** Nests a new signature in the existing one, as signtool does with /as. The existing signature must be intact. */

import { SPC_NESTED_SIGNATURE } from '../asn1/object-identifiers.ts';
import { isReadableCertificate } from '../certificates/certificate.ts';
import { addUnsignedValue } from '../cms/unsigned-attributes.ts';
import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import { attempt, CodesignError } from '../errors/codesign-error.ts';
import { hasFindingAgainst } from '../errors/finding.ts';
import { formatErrors } from '../format/errors.ts';
import type { Container, MeasuredContent } from './container.ts';
import { examineDataType } from './examine-authenticode.ts';
import { type AuthenticodeSignature, readAuthenticode } from './read-authenticode.ts';

export interface OuterSignature {
  readonly cms: Uint8Array;
  readonly algorithm: DigestAlgorithm;
  readonly contentDigest: Uint8Array;
}

/** Nests `nestedCms` in `outerCms`. The outer timestamp and existing nested signatures do not change. */
export function nestSignature(outerCms: Uint8Array, nestedCms: Uint8Array): Uint8Array {
  return addUnsignedValue(outerCms, { type: SPC_NESTED_SIGNATURE, value: nestedCms });
}

/** Throws `cannot-append` if verifiers would reject the result, so that no signature is wasted. */
export async function readOuterSignature(container: Container): Promise<OuterSignature | undefined> {
  if (container.reasonNotRewritable !== undefined) throw cannotAppend(container.reasonNotRewritable);
  const [entry] = await container.entries();
  if (entry === undefined) return undefined;
  if (entry.cms === undefined) throw cannotAppend('the signature there is too long to be one');
  const { cms } = entry;
  const outer = attempt(() => readAuthenticode(cms, container.kind.contentType));
  if (outer instanceof CodesignError) throw cannotAppend(`the signature there cannot be read: ${outer.message}`, outer);
  const { signedData, algorithm, contentDigest } = outer;
  if (algorithm === undefined) throw cannotAppend('the signature there uses a digest algorithm that is not supported');
  if (!outer.verifies()) throw cannotAppend('the signature there does not verify');
  if (!(await fitsKind(outer, container)))
    throw cannotAppend('a signature there was made for another kind of file, or its page hashes do not match');
  if (!hasReadableCertificates(outer)) throw cannotAppend('a certificate of a signature there cannot be read');
  return { cms: signedData.bytes, algorithm, contentDigest };
}

export function checkUnchanged(outer: OuterSignature, { digests }: MeasuredContent): void {
  const actual = digests.get(outer.algorithm);
  if (actual === undefined || Buffer.compare(actual, outer.contentDigest) !== 0) {
    throw cannotAppend('the file was changed after it was signed');
  }
}

/** Checks nested signatures too: `verify` rejects the whole file if a nested signature is for another format. */
async function fitsKind(signature: AuthenticodeSignature, container: Container): Promise<boolean> {
  if (hasFindingAgainst(examineDataType(signature, container.kind), 'integrity')) return false;
  if (hasFindingAgainst((await container.compare?.(signature)) ?? [], 'integrity')) return false;
  for (const inner of signature.nested) if (!(await fitsKind(inner, container))) return false;
  return true;
}

/** Windows and osslsigncode read no signature of a file if one of its certificates is unreadable. */
function hasReadableCertificates({ signedData, nested }: AuthenticodeSignature): boolean {
  return signedData.certificates.every(isReadableCertificate) && nested.every(hasReadableCertificates);
}

function cannotAppend(reason: string, cause?: unknown): CodesignError {
  return formatErrors('cannot-append', { reason }, { cause });
}
