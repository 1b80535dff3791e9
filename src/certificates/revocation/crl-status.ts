/** What a CRL says of a certificate, if it may say anything of it (RFC 5280, 6.3.3): issuer, signature, scope, freshness. */

import { CodesignError } from '../../errors/codesign-error.ts';
import { allowsKeyUsage, basicConstraintsOf, KEY_USAGE_BITS } from '../certificate-fields.ts';
import { type ParsedCertificate, publicKeyOf } from '../parsed-certificate.ts';
import { isSignedBy } from '../signature-algorithm.ts';
import type { Crl } from './crl.ts';
import { type CrlEntry, findInCrl } from './crl-entries.ts';
import { crlPointsOf } from './sources.ts';
import { type ListInfo, ON_HOLD, REMOVED, type RevocationStatus, type Statement, stalenessOf } from './status.ts';

/** Whether the issuer's key really signed the CRL. It may be remembered: a large one takes a tenth of a second. */
export function crlIsSignedBy(crl: Crl, issuer: ParsedCertificate): boolean {
  const key = publicKeyOf(issuer);
  return key !== undefined && isSignedBy(key, crl.signatureAlgorithm, crl.signedBytes, crl.signature);
}

/**
 * The CRL must be of the certificate's own issuer. A certificate that it lists is revoked whatever else the list is about,
 * and even where the list has expired since: revocation is for good, except a hold.
 */
export function statementByCrl(
  crl: Crl,
  certificate: ParsedCertificate,
  issuer: ParsedCertificate,
  now: Date,
  isSigned: (crl: Crl, issuer: ParsedCertificate) => boolean = crlIsSignedBy,
): Statement {
  try {
    const problem = authenticityProblem(crl, certificate, issuer, isSigned);
    if (problem !== undefined) return { status: { kind: 'unknown', why: problem } };
    const { serialNumber } = certificate.fields;
    const { entries, unknownCritical } = findInCrl(crl, { serialNumber, issuerKey: certificate.issuerKey });
    const gap =
      crl.scope.partial ??
      (covers(crl, certificate) ? undefined : 'it covers other certificates of the issuer') ??
      (unknownCritical && `an entry has the critical extension ${unknownCritical}, which is not known here`);
    const staleness = stalenessOf(crl.thisUpdate, crl.nextUpdate, now);
    if (entries.length > 0) return statementOfEntries(crl, entries, gap, staleness);
    // A list of the past still shows that a hold had been lifted by then.
    return {
      status: goodUnless(gap ?? staleness),
      list: infoOf(crl),
      liftsHold: gap === undefined && crl.thisUpdate <= now,
    };
  } catch (thrown) {
    if (!(thrown instanceof CodesignError)) throw thrown;
    return { status: { kind: 'unknown', why: thrown.message } };
  }
}

/** `gap`, `staleness`: why the list says nothing of what it leaves out. */
function statementOfEntries(
  crl: Crl,
  entries: readonly CrlEntry[],
  gap: string | undefined,
  staleness: string | undefined,
): Statement {
  const list = infoOf(crl);
  const [lasting] = entries
    .filter(({ reason }) => reason !== ON_HOLD && reason !== REMOVED)
    .sort((a, b) => a.revokedAt.getTime() - b.revokedAt.getTime());
  if (lasting !== undefined) return { status: { kind: 'revoked', ...lasting }, list };
  const hold = entries.find(({ reason }) => reason === ON_HOLD);
  if (hold === undefined) {
    const { isDelta } = crl.scope;
    const why = isDelta ? 'a delta CRL takes it from the list' : 'its entry is one for delta CRLs (removeFromCRL)';
    return { status: { kind: 'unknown', why }, list, liftsHold: isDelta };
  }
  if (staleness !== undefined) return { status: { kind: 'unknown', why: staleness }, list };
  return { status: { kind: 'revoked', ...hold }, list, withoutHold: goodUnless(gap) };
}

function goodUnless(why: string | undefined): RevocationStatus {
  return why === undefined ? { kind: 'good' } : { kind: 'unknown', why };
}

function infoOf({ issuerKey, thisUpdate, number, scope }: Crl): ListInfo {
  return { issuerKey, scopeKey: scope.key, thisUpdate, number, isDelta: scope.isDelta };
}

function authenticityProblem(
  crl: Crl,
  certificate: ParsedCertificate,
  issuer: ParsedCertificate,
  isSigned: (crl: Crl, issuer: ParsedCertificate) => boolean,
): string | undefined {
  if (crl.issuerKey !== certificate.issuerKey) return `it is of another issuer (${crl.issuerName})`;
  if (crl.scope.problem !== undefined) return crl.scope.problem;
  if (!allowsKeyUsage(issuer.fields, KEY_USAGE_BITS.cRLSign)) return 'the issuer may not sign CRLs (keyUsage)';
  return isSigned(crl, issuer) ? undefined : "its signature is not by the issuer's key";
}

function covers({ scope }: Crl, { fields }: ParsedCertificate): boolean {
  const isAuthority = basicConstraintsOf(fields)?.isAuthority ?? false;
  if (scope.covers === 'authorities' && !isAuthority) return false;
  // Without extensions, as in version 1, nothing says which of both the certificate is.
  if (scope.covers === 'end-entities' && (isAuthority || fields.extensions.size === 0)) return false;
  const points = crlPointsOf(fields);
  // All its points name lists of another issuer.
  if (points?.length === 0) return false;
  const { points: listed } = scope;
  if (listed === undefined) return true;
  return (points ?? []).some(
    ({ names, isForSomeReasons }) => !isForSomeReasons && names.some((name) => listed.includes(name)),
  );
}
