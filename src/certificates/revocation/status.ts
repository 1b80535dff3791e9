import { secondOf } from '../../asn1/times.ts';
import { expectedError } from '../../errors/codesign-error.ts';
import { allowsKeyUsage, basicConstraintsOf, KEY_USAGE_BITS, type ParsedCertificate } from '../certificate.ts';
import { type Crl, type CrlEntry, findInCrl } from './crl.ts';
import { crlPointsOf } from './sources.ts';

export type RevocationStatus =
  | { readonly kind: 'good' }
  | { readonly kind: 'revoked'; readonly revoked: readonly CrlEntry[] }
  | { readonly kind: 'unknown'; readonly why: string };

export function unknownBecause(why: string): Extract<RevocationStatus, { kind: 'unknown' }> {
  return { kind: 'unknown', why };
}

/** "revoked" takes precedence over "good", and "good" over "unknown". */
export function combineStatuses(statuses: readonly RevocationStatus[]): RevocationStatus {
  const revoked = statuses.flatMap((status) => (status.kind === 'revoked' ? status.revoked : []));
  if (revoked.length > 0) return { kind: 'revoked', revoked };
  const reasons = statuses.flatMap((status) => (status.kind === 'unknown' ? [status.why] : []));
  return statuses.some(({ kind }) => kind === 'good') ? { kind: 'good' } : unknownBecause(reasons.join('; '));
}

/** The reason removeFromCRL: the certificate is no longer on hold, or has expired. */
const REMOVED = 8;
const REASONS: Readonly<Record<number, string>> = {
  1: 'its key was compromised',
  2: "its authority's key was compromised",
  3: 'the affiliation has changed',
  4: 'it was superseded',
  5: 'it is no longer in use',
  6: 'it is on hold',
  9: 'a privilege was withdrawn',
  10: 'its attribute authority was compromised',
};

export function nameOfReason(reason: number | undefined): string | undefined {
  return reason === undefined ? undefined : REASONS[reason];
}

export function isCompromise(reason: number | undefined): boolean {
  return reason === 1 || reason === 2 || reason === 10;
}

const SKEW_MILLISECONDS = 5 * 60 * 1000;
/** Presumed validity of a response that does not say when the next response is due. */
const WITHOUT_NEXT_MILLISECONDS = 24 * 60 * 60 * 1000;

export function stalenessOf(thisUpdate: Date, nextUpdate: Date | undefined, now: Date): string | undefined {
  if (thisUpdate.getTime() > now.getTime() + SKEW_MILLISECONDS)
    return `it was issued in the future (${secondOf(thisUpdate)})`;
  const end = nextUpdate?.getTime() ?? thisUpdate.getTime() + WITHOUT_NEXT_MILLISECONDS;
  return end + SKEW_MILLISECONDS < now.getTime() ? `it expired on ${secondOf(new Date(end))}` : undefined;
}

/**
 * A listed certificate is revoked even if the list has expired, covers other certificates, or the reason is a hold.
 * Only a current list for all reasons can show that a certificate is good (RFC 5280, section 6.3.3).
 */
export function statusByCrl(
  crl: Crl,
  certificate: ParsedCertificate,
  issuer: ParsedCertificate,
  now: Date,
): RevocationStatus {
  try {
    const problem = authenticityProblem(crl, certificate, issuer);
    if (problem !== undefined) return unknownBecause(problem);
    const { serialNumber } = certificate.fields;
    const { entries, unknownCritical } = findInCrl(crl, { serialNumber, issuerKey: certificate.issuerKey });
    const revoked = entries.filter(({ reason }) => reason !== REMOVED);
    if (revoked.length > 0) return { kind: 'revoked', revoked };
    const gap =
      (entries.length > 0 ? 'its entry removes the certificate from another list (removeFromCRL)' : undefined) ??
      crl.scope.partial ??
      (covers(crl, certificate) ? undefined : 'it covers only other certificates of the issuer') ??
      (unknownCritical && `an entry has the critical extension ${unknownCritical}, which is not supported`) ??
      stalenessOf(crl.thisUpdate, crl.nextUpdate, now);
    return gap === undefined ? { kind: 'good' } : unknownBecause(gap);
  } catch (thrown) {
    return unknownBecause(expectedError(thrown).message);
  }
}

function authenticityProblem(crl: Crl, certificate: ParsedCertificate, issuer: ParsedCertificate): string | undefined {
  if (crl.issuerKey !== certificate.issuerKey) return `it comes from another issuer (${crl.issuerName})`;
  if (crl.scope.problem !== undefined) return crl.scope.problem;
  if (!allowsKeyUsage(issuer.fields, KEY_USAGE_BITS.cRLSign)) return 'the issuer may not sign CRLs (keyUsage)';
  return crl.isSignedBy(issuer) ? undefined : "its signature was not made with the issuer's key";
}

function covers({ scope }: Crl, { fields }: ParsedCertificate): boolean {
  const isAuthority = basicConstraintsOf(fields)?.isAuthority ?? false;
  if (scope.covers === 'authorities' && !isAuthority) return false;
  // A certificate without extensions can belong to an authority or to an end entity.
  if (scope.covers === 'end-entities' && (isAuthority || fields.extensions.size === 0)) return false;
  const points = crlPointsOf(fields);
  // All distribution points of the certificate refer to CRLs of other issuers.
  if (points?.length === 0) return false;
  const { points: listed } = scope;
  if (listed === undefined) return true;
  return (points ?? []).some(
    ({ names, isForSomeReasons }) => !isForSomeReasons && names.some((name) => listed.includes(name)),
  );
}
