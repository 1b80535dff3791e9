/** Checks a signature against `signers`, `timestamp` and `digest` in a policy. */

import { COMMON_NAME, COUNTRY, ORGANIZATION, ORGANIZATIONAL_UNIT } from '../asn1/object-identifiers.ts';
import { extendedKeyUsageOf, readCertificateFields } from '../certificates/certificate.ts';
import { readName } from '../certificates/names.ts';
import { DIGEST_LENGTH, type DigestAlgorithm } from '../crypto/algorithms.ts';
import { fingerprintOf } from '../crypto/fingerprint.ts';
import { orUndefined } from '../errors/codesign-error.ts';
import type { VerifiedSignature } from '../verifying/verdict.ts';
import type { PolicySigner } from './policy-file.ts';

export interface SignatureRequirements {
  readonly signers: readonly PolicySigner[] | undefined;
  readonly timestamp: boolean;
  readonly digest: DigestAlgorithm | undefined;
}

export type Unmet = 'signer-differs' | 'timestamp-required' | 'algorithm-too-weak';

/** Returns the first requirement that the signature does not meet. */
export function unmetBy(signature: VerifiedSignature, required: SignatureRequirements): Unmet | undefined {
  const { signers, timestamp, digest } = required;
  if (signers !== undefined && !signers.some((signer) => isBy(signature, signer))) return 'signer-differs';
  if (timestamp && signature.time === undefined) return 'timestamp-required';
  const { algorithm } = signature;
  if (digest === undefined) return undefined;
  if (algorithm === undefined || DIGEST_LENGTH[algorithm] < DIGEST_LENGTH[digest]) return 'algorithm-too-weak';
  return undefined;
}

/** A name counts only on a trusted path, because anyone can create a certificate with any name. */
function isBy({ signer, trust }: VerifiedSignature, wanted: PolicySigner): boolean {
  if (typeof wanted === 'string') return wanted === `sha256:${signer.sha256}`;
  const [leaf, issuer] = signer.path;
  if (trust !== 'trusted' || leaf === undefined) return false;
  const fields = readCertificateFields(leaf.der);
  const attributes = orUndefined(() => readName(fields.subject))?.relativeNames.flat() ?? [];
  const has = (type: string, value: string | undefined): boolean =>
    value === undefined || attributes.some((attribute) => attribute.type === type && attribute.value === value);
  const { commonName, organization, organizationalUnit, country, issuerSha256, eku } = wanted;
  return (
    has(COMMON_NAME, commonName) &&
    has(ORGANIZATION, organization) &&
    has(ORGANIZATIONAL_UNIT, organizationalUnit) &&
    has(COUNTRY, country) &&
    (issuerSha256 === undefined || (issuer !== undefined && fingerprintOf(issuer.der) === issuerSha256)) &&
    (eku === undefined || orUndefined(() => extendedKeyUsageOf(fields))?.includes(eku) === true)
  );
}
