/** Checks signer, certificate and age of an OCSP response (RFC 6960, 3.2), and returns the certificate's status. */

import { createHash } from 'node:crypto';
import { digestAlgorithmOf } from '../../asn1/algorithm-identifiers.ts';
import { CERTIFICATE_TRANSPARENCY, OCSP_SIGNING } from '../../asn1/object-identifiers.ts';
import { isSameBytes } from '../../bytes/byte-source.ts';
import { expectedError, orUndefined } from '../../errors/codesign-error.ts';
import { isAgainst } from '../../errors/finding.ts';
import { allowsKeyUsage, extendedKeyUsageOf, KEY_USAGE_BITS } from '../certificate-fields.ts';
import { examinePath } from '../examine-path.ts';
import { readName } from '../names.ts';
import { hasSigned, type ParsedCertificate, parseCertificate } from '../parsed-certificate.ts';
import { isSignedBy } from '../signature-algorithm.ts';
import { issuerDigests, keyBitsOf, type OcspAnswer, type OcspResponse, readOcspResponse } from './ocsp-response.ts';
import { combineStatuses, type RevocationStatus, stalenessOf, unknownBecause } from './status.ts';

/** Returns "unknown", and never throws, for an invalid response. */
export function statusByOcsp(
  der: Uint8Array,
  certificate: ParsedCertificate,
  issuer: ParsedCertificate,
  now: Date,
): RevocationStatus {
  try {
    const response = readOcspResponse(der);
    if (typeof response === 'string') return unknownBecause(response);
    const problem = signerProblem(response, issuer, now);
    if (problem !== undefined) return unknownBecause(problem);
    const answers = response.answers.filter((one) => isAbout(one, certificate, issuer));
    if (answers.length === 0) return unknownBecause('it is about another certificate');
    const statuses = answers.map((answer) => statusOf(answer, now));
    const combined = combineStatuses(statuses);
    if (combined.kind === 'revoked') return combined;
    const critical = response.criticalExtensions.find((type) => type !== CERTIFICATE_TRANSPARENCY); // Logs say nothing about revocation.
    if (critical !== undefined) return unknownBecause(`its critical extension ${critical} is not known here`);
    return statuses.find(({ kind }) => kind === 'unknown') ?? combined;
  } catch (thrown) {
    return unknownBecause(expectedError(thrown).message);
  }
}

/** Like in a CRL, "revoked" counts even in an old response. */
function statusOf(answer: OcspAnswer, now: Date): RevocationStatus {
  const { status, revokedAt, reason, thisUpdate, nextUpdate } = answer;
  if (status === 'revoked') return { kind: 'revoked', revoked: [{ revokedAt: revokedAt ?? thisUpdate, reason }] };
  const staleness = stalenessOf(thisUpdate, nextUpdate, now);
  if (staleness !== undefined) return unknownBecause(staleness);
  return status === 'good' ? { kind: 'good' } : unknownBecause('it does not know the certificate');
}

function isAbout(answer: OcspAnswer, certificate: ParsedCertificate, issuer: ParsedCertificate): boolean {
  const digestName = digestAlgorithmOf(answer.digestAlgorithm)?.toLowerCase();
  if (digestName === undefined) return false;
  const { nameDigest, keyDigest } = issuerDigests(certificate, issuer, digestName);
  return (
    isSameBytes(answer.serialNumber, certificate.fields.serialNumber) &&
    isSameBytes(answer.issuerNameDigest, nameDigest) &&
    isSameBytes(answer.issuerKeyDigest, keyDigest)
  );
}

/**
 * The signer must be the issuer, or be certified by the issuer for this purpose (RFC 6960, 4.2.2.2). Revocation of such
 * a responder is not checked: their certificates are valid for weeks, and say so (id-pkix-ocsp-nocheck).
 */
function signerProblem(response: OcspResponse, issuer: ParsedCertificate, now: Date): string | undefined {
  const candidates = [
    issuer,
    ...response.certificates.flatMap((der) => orUndefined(() => parseCertificate(der, 'OCSP answer')) ?? []),
  ];
  const signer = candidates.find((one) => isResponder(response, one) && isSignedBy(one, response));
  if (signer === undefined) return 'its signature is not by the responder that it names';
  if (signer === issuer || isSameBytes(signer.der, issuer.der)) return undefined;
  if (!hasSigned(issuer, signer)) return `its signer "${signer.name}" was certified by another authority`;
  if (!(extendedKeyUsageOf(signer.fields)?.includes(OCSP_SIGNING) ?? false)) {
    return `its signer "${signer.name}" may not answer for the issuer (extendedKeyUsage)`;
  }
  if (!allowsKeyUsage(signer.fields, KEY_USAGE_BITS.digitalSignature))
    return `its signer "${signer.name}" may not sign (keyUsage)`;
  if (now < signer.notBefore || signer.notAfter < now) {
    return `the certificate of its signer "${signer.name}" has expired or is not valid yet`;
  }
  const findings = examinePath({ certificates: [signer, issuer], isAnchored: true, at: now, purpose: undefined });
  const objection = findings.find((finding) => isAgainst(finding, 'trust'));
  return objection && `the certificate of its signer "${signer.name}" is not accepted (${objection.code})`;
}

/** Compares by name (`[1]`) or by the SHA-1 digest of the key (`[2]`). */
function isResponder({ responder }: OcspResponse, candidate: ParsedCertificate): boolean {
  if (responder.tag === 0xa1) return readName(responder.contents).key === candidate.subjectKey;
  if (responder.tag !== 0xa2) return false;
  const digest = createHash('sha1').update(keyBitsOf(candidate)).digest();
  return isSameBytes(responder.contents.subarray(2), digest);
}
