/** What one source (a CRL, an OCSP responder) says of one certificate, and how fresh it must be to count. */

import { secondOf } from '../../asn1/times.ts';
import { expectedError } from '../../errors/codesign-error.ts';
import { allowsKeyUsage, basicConstraintsOf, KEY_USAGE_BITS } from '../certificate-fields.ts';
import type { ParsedCertificate } from '../parsed-certificate.ts';
import { isSignedBy } from '../signature-algorithm.ts';
import type { Crl } from './crl.ts';
import { type CrlEntry, findInCrl } from './crl-entries.ts';
import { crlPointsOf } from './sources.ts';

export interface Revoked {
  readonly kind: 'revoked';
  readonly revokedAt: Date;
  /** CRLReason (RFC 5280, 5.3.1); undefined: not said. */
  readonly reason: number | undefined;
  /** Since when the key is known or suspected to be in wrong hands; undefined: not said. */
  readonly invalidSince: Date | undefined;
}

export type RevocationStatus =
  | { readonly kind: 'good' }
  | Revoked
  /** `why`: for people, no whole sentence. */
  | { readonly kind: 'unknown'; readonly why: string };

/** `why`: for people, no whole sentence. */
export function unknownBecause(why: string): Extract<RevocationStatus, { kind: 'unknown' }> {
  return { kind: 'unknown', why };
}

/** What one source says, and what is needed to weigh it against the others. */
export interface Statement {
  readonly status: RevocationStatus;
  /** Undefined: not by a CRL. */
  readonly list?: Pick<Crl, 'issuerKey' | 'thisUpdate' | 'number' | 'scope'>;
  /** Whether it ends holds in lists of its scope that are older: the certificate is no longer in it. */
  readonly liftsHold?: boolean;
  /** Of a hold: what the list says if the hold is lifted. */
  readonly withoutHold?: RevocationStatus;
}

/** All statements together; every one of `revoked` counts. */
export type CombinedStatus =
  | Exclude<RevocationStatus, Revoked>
  | { readonly kind: 'revoked'; readonly revoked: readonly Revoked[] };

/** "Revoked" wins over "good", except a hold that a newer list of the same issuer and scope lifts; "good" over "unknown". */
export function combineStatements(statements: readonly Statement[]): CombinedStatus {
  const statuses = statements.map((statement) => {
    const { status, withoutHold } = statement;
    return withoutHold !== undefined && statements.some((other) => lifts(other, statement)) ? withoutHold : status;
  });
  const revoked = statuses.filter((status) => status.kind === 'revoked');
  if (revoked.length > 0) return { kind: 'revoked', revoked };
  const reasons = statuses.flatMap((status) => (status.kind === 'unknown' ? [status.why] : []));
  return statuses.some(({ kind }) => kind === 'good') ? { kind: 'good' } : { kind: 'unknown', why: reasons.join('; ') };
}

function lifts({ list: newer, liftsHold = false }: Statement, { list: older }: Statement): boolean {
  if (!liftsHold || newer === undefined || older === undefined) return false;
  if (newer.issuerKey !== older.issuerKey || newer.scope.key !== older.scope.key) return false;
  const later = newer.thisUpdate.getTime() - older.thisUpdate.getTime();
  // A delta is of the same time as the list that it changes, or later.
  return later > 0 || (later === 0 && (newer.scope.isDelta || newer.number > older.number));
}

export const ON_HOLD = 6;
/** removeFromCRL: in a delta CRL, the certificate is no longer on hold, or has expired. */
export const REMOVED = 8;
const REASONS: Readonly<Record<number, string>> = {
  1: 'its key is in wrong hands',
  2: "its authority's key is in wrong hands",
  3: 'the affiliation has changed',
  4: 'it was superseded',
  5: 'it is out of use',
  [ON_HOLD]: 'it is on hold',
  9: 'a privilege was withdrawn',
  10: 'its authority is in wrong hands',
};

/** For people; undefined where none is given. */
export function nameOfReason(reason: number | undefined): string | undefined {
  return reason === undefined ? undefined : REASONS[reason];
}

/** Whether the reason is that another party may have signed with the key. */
export function isCompromise(reason: number | undefined): boolean {
  return reason === 1 || reason === 2 || reason === 10;
}

/** Clocks of two machines differ. */
const SKEW_MILLISECONDS = 5 * 60 * 1000;
/** How long an answer counts that does not say when the next one comes. */
const WITHOUT_NEXT_MILLISECONDS = 24 * 60 * 60 * 1000;

/** Why something with these times does not apply to the current time, for people; undefined if it does. */
export function stalenessOf(thisUpdate: Date, nextUpdate: Date | undefined, now: Date): string | undefined {
  if (thisUpdate.getTime() > now.getTime() + SKEW_MILLISECONDS) return `it is of the future (${secondOf(thisUpdate)})`;
  const end = nextUpdate?.getTime() ?? thisUpdate.getTime() + WITHOUT_NEXT_MILLISECONDS;
  return end + SKEW_MILLISECONDS < now.getTime() ? `it expired on ${secondOf(new Date(end))}` : undefined;
}

/**
 * What a CRL says of a certificate, if it may say anything of it (RFC 5280, 6.3.3): issuer, signature, scope, freshness.
 * `isSigned` may remember: a large list takes a tenth of a second. The CRL must be of the certificate's own issuer. A certificate that it lists is revoked whatever else the list is about,
 * and even where the list has expired since: revocation is for good, except a hold.
 */
export function statementByCrl(
  crl: Crl,
  certificate: ParsedCertificate,
  issuer: ParsedCertificate,
  now: Date,
  isSigned: (issuer: ParsedCertificate, crl: Crl) => boolean = isSignedBy,
): Statement {
  try {
    const problem = authenticityProblem(crl, certificate, issuer, isSigned);
    if (problem !== undefined) return { status: unknownBecause(problem) };
    const { serialNumber } = certificate.fields;
    const { entries, unknownCritical } = findInCrl(crl, { serialNumber, issuerKey: certificate.issuerKey });
    const gap =
      crl.scope.partial ??
      (covers(crl, certificate) ? undefined : 'it covers other certificates of the issuer') ??
      (unknownCritical && `an entry has the critical extension ${unknownCritical}, which is not known here`);
    const staleness = stalenessOf(crl.thisUpdate, crl.nextUpdate, now);
    if (entries.length > 0) return statementOfEntries(crl, entries, gap, staleness);
    // A list of the past still shows that a hold had been lifted by then.
    const liftsHold = gap === undefined && crl.thisUpdate <= now;
    return { status: goodUnless(gap ?? staleness), list: crl, liftsHold };
  } catch (thrown) {
    return { status: unknownBecause(expectedError(thrown).message) };
  }
}

/** `gap`, `staleness`: why the list says nothing of what it leaves out. */
function statementOfEntries(
  list: Crl,
  entries: readonly CrlEntry[],
  gap: string | undefined,
  staleness: string | undefined,
): Statement {
  const [lasting] = entries
    .filter(({ reason }) => reason !== ON_HOLD && reason !== REMOVED)
    .sort((a, b) => a.revokedAt.getTime() - b.revokedAt.getTime());
  if (lasting !== undefined) return { status: { kind: 'revoked', ...lasting }, list };
  const hold = entries.find(({ reason }) => reason === ON_HOLD);
  if (hold === undefined) {
    const { isDelta } = list.scope;
    const why = isDelta ? 'a delta CRL takes it from the list' : 'its entry is one for delta CRLs (removeFromCRL)';
    return { status: unknownBecause(why), list, liftsHold: isDelta };
  }
  if (staleness !== undefined) return { status: unknownBecause(staleness), list };
  return { status: { kind: 'revoked', ...hold }, list, withoutHold: goodUnless(gap) };
}

function goodUnless(why: string | undefined): RevocationStatus {
  return why === undefined ? { kind: 'good' } : unknownBecause(why);
}

function authenticityProblem(
  crl: Crl,
  certificate: ParsedCertificate,
  issuer: ParsedCertificate,
  isSigned: (issuer: ParsedCertificate, crl: Crl) => boolean,
): string | undefined {
  if (crl.issuerKey !== certificate.issuerKey) return `it is of another issuer (${crl.issuerName})`;
  if (crl.scope.problem !== undefined) return crl.scope.problem;
  if (!allowsKeyUsage(issuer.fields, KEY_USAGE_BITS.cRLSign)) return 'the issuer may not sign CRLs (keyUsage)';
  return isSigned(issuer, crl) ? undefined : "its signature is not by the issuer's key";
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
