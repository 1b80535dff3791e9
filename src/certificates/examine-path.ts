/** Examines a certification path as RFC 5280, section 6.1, requires. */

import * as known from '../asn1/object-identifiers.ts';
import { secondOf } from '../asn1/times.ts';
import { expectedError } from '../errors/codesign-error.ts';
import { type Finding, note, untrusted, warning } from '../errors/finding.ts';
import { allowsKeyUsage, basicConstraintsOf, KEY_USAGE_BITS, type ParsedCertificate } from './certificate.ts';
import { nameProblem } from './name-constraints.ts';
import { allowsBelow, examineKey, PURPOSES, type Purpose, purposeOddity, purposeProblem } from './purpose.ts';
import { describeSignatureAlgorithm, isBrokenDigest, readSignatureAlgorithm } from './signature-algorithm.ts';

export interface PathToExamine {
  readonly certificates: readonly ParsedCertificate[];
  /** True if the last certificate is itself trusted, so that the signature on it does not matter. */
  readonly isAnchored: boolean;
  readonly at: Date;
  readonly purpose: Purpose | undefined;
}

/** Critical extensions that this program checks or can safely ignore. OpenSSL too ignores policies by default. */
const KNOWN_EXTENSIONS: ReadonlySet<string> = new Set([
  known.SUBJECT_KEY_IDENTIFIER,
  known.KEY_USAGE,
  known.SUBJECT_ALTERNATIVE_NAME,
  known.ISSUER_ALTERNATIVE_NAME,
  known.BASIC_CONSTRAINTS,
  known.NAME_CONSTRAINTS,
  known.CRL_DISTRIBUTION_POINTS,
  known.CERTIFICATE_POLICIES,
  known.POLICY_MAPPINGS,
  known.AUTHORITY_KEY_IDENTIFIER,
  known.POLICY_CONSTRAINTS,
  known.EXTENDED_KEY_USAGE,
  known.INHIBIT_ANY_POLICY,
  known.AUTHORITY_INFORMATION,
  known.OCSP_NO_CHECK,
]);

export function examinePath(path: PathToExamine): Finding[] {
  return path.certificates.flatMap((certificate, index) => {
    const isLeaf = index === 0;
    const isAnchor = path.isAnchored && index === path.certificates.length - 1;
    try {
      return [
        ...examineTime(certificate, path.at, isAnchor && !isLeaf),
        ...examineExtensions(certificate),
        ...(isLeaf ? examineLeafPurpose(certificate, path.purpose) : examineAuthority(path, index, isAnchor)),
        ...examineKey(certificate),
        ...(isAnchor ? [] : examineSignatureAlgorithm(certificate)),
      ];
    } catch (thrown) {
      return [malformed(certificate, expectedError(thrown).message)];
    }
  });
}

/** A trusted root stays trusted after it has expired. */
function examineTime({ name, notBefore, notAfter }: ParsedCertificate, at: Date, isTrustedRoot: boolean): Finding[] {
  const finding = isTrustedRoot ? note : untrusted;
  const when = `checked is ${secondOf(at)}`;
  if (at < notBefore) {
    const message = `The certificate of "${name}" is not valid before ${secondOf(notBefore)}; the time ${when}.`;
    return [finding('certificate-not-yet-valid', message)];
  }
  if (at > notAfter) {
    const message = `The certificate of "${name}" expired on ${secondOf(notAfter)}; the time ${when}.`;
    return [finding('certificate-expired', message)];
  }
  return [];
}

function examineExtensions(certificate: ParsedCertificate): Finding[] {
  const { name, fields } = certificate;
  const unknown = fields.criticalExtensions.filter((type) => !KNOWN_EXTENSIONS.has(type));
  const findings = unknown.slice(0, 1).map((type) => {
    const message = `The certificate of "${name}" has the critical extension ${type}, which this program does not support.`;
    return untrusted('certificate-critical-extension', message);
  });
  const [repeated] = fields.repeatedExtensions;
  if (repeated !== undefined) findings.push(malformed(certificate, `the extension ${repeated} occurs twice`));
  return findings;
}

function examineLeafPurpose({ name, fields }: ParsedCertificate, purpose: Purpose | undefined): Finding[] {
  if (purpose === undefined) return [];
  const problem = purposeProblem(fields, purpose);
  const oddity = purposeOddity(fields, purpose);
  if (problem === undefined && oddity === undefined) return [];
  const message = `The certificate of "${name}" is not ${problem === undefined ? 'fully suitable' : 'suitable'} for ${PURPOSES[purpose].use}: ${problem ?? oddity}.`;
  return [(problem === undefined ? note : untrusted)('certificate-purpose', message)];
}

function examineAuthority({ certificates, purpose }: PathToExamine, index: number, isAnchor: boolean): Finding[] {
  const certificate = certificates[index];
  if (certificate === undefined) return [];
  const { name, fields } = certificate;
  const constraints = basicConstraintsOf(fields);
  const findings: Finding[] = [];
  const problem = authorityProblem(certificate, constraints?.isAuthority, isAnchor);
  if (problem !== undefined) {
    const message = `The certificate of "${name}" does not belong to a certificate authority: ${problem}.`;
    findings.push(untrusted('certificate-not-authority', message));
  }
  const below = certificates.slice(1, index).filter((issued) => !isSelfIssued(issued)).length;
  const allowed = constraints?.pathLength ?? below;
  if (below > allowed) {
    const message = `"${name}" permits ${allowed} authorities below it (pathLenConstraint), but this path has ${below}.`;
    findings.push(untrusted('path-too-long', message));
  }
  // The user decides what a trusted root may be used for.
  if (purpose !== undefined && !isAnchor && !allowsBelow(fields, purpose)) {
    const message = `The authority "${name}" may not issue certificates for this purpose: its extendedKeyUsage lacks ${PURPOSES[purpose].name}.`;
    findings.push(untrusted('certificate-purpose', message));
  }
  return [...findings, ...examineNames(certificate, certificates.slice(0, index))];
}

/** As in OpenSSL, name constraints in roots apply too, and self-issued issuers are exempt. */
function examineNames(authority: ParsedCertificate, below: readonly ParsedCertificate[]): Finding[] {
  return below.flatMap((issued, index) => {
    if (index > 0 && isSelfIssued(issued)) return [];
    const problem = nameProblem(authority.fields, issued.fields);
    if (problem === undefined) return [];
    const message = `The name constraints of "${authority.name}" forbid the certificate of "${issued.name}": ${problem}.`;
    return [untrusted('certificate-name-constraints', message)];
  });
}

function authorityProblem(
  { fields }: ParsedCertificate,
  isAuthority: boolean | undefined,
  isAnchor: boolean,
): string | undefined {
  // Some roots of version 1, which has no extensions, are still trust anchors.
  const isOldRoot = isAnchor && fields.extensions.size === 0;
  if (isAuthority !== true && !isOldRoot) return 'its basicConstraints do not mark it as one';
  return allowsKeyUsage(fields, KEY_USAGE_BITS.keyCertSign) ? undefined : 'its keyUsage lacks keyCertSign';
}

function isSelfIssued({ subjectKey, issuerKey }: ParsedCertificate): boolean {
  return subjectKey === issuerKey;
}

/** SHA-1 is only a warning, because the chains of many valid old signatures use it. */
function examineSignatureAlgorithm({ name, fields }: ParsedCertificate): Finding[] {
  const algorithm = readSignatureAlgorithm(fields.signatureAlgorithm);
  if (algorithm === undefined) {
    const message = `The issuer signed the certificate of "${name}" with an algorithm that is not accepted: ${describeSignatureAlgorithm(fields.signatureAlgorithm)}.`;
    return [untrusted('certificate-signature-algorithm', message)];
  }
  const { digest } = algorithm;
  if (digest === null || (digest !== 'sha1' && !isBrokenDigest(digest))) return [];
  const message = `The issuer signed the certificate of "${name}" with ${digest.toUpperCase()}, so it could be forged.`;
  return [(digest === 'sha1' ? warning : untrusted)('certificate-weak-signature', message)];
}

function malformed({ name }: ParsedCertificate, problem: string): Finding {
  const message = `The certificate of "${name}" is malformed: ${problem}.`;
  return untrusted('certificate-malformed', message);
}
