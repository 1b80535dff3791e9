/** What one source (a CRL, an OCSP responder) says of one certificate, and how fresh it must be to count. */

import { secondOf } from '../../asn1/times.ts';

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

/** What one source says, and what is needed to weigh it against the others. */
export interface Statement {
  readonly status: RevocationStatus;
  /** Undefined: not by a CRL. */
  readonly list?: ListInfo;
  /** Whether it ends holds in lists of its scope that are older: the certificate is no longer in it. */
  readonly liftsHold?: boolean;
  /** Of a hold: what the list says if the hold is lifted. */
  readonly withoutHold?: RevocationStatus;
}

export interface ListInfo {
  readonly issuerKey: string;
  readonly scopeKey: string;
  readonly thisUpdate: Date;
  readonly number: bigint;
  readonly isDelta: boolean;
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
  if (newer.issuerKey !== older.issuerKey || newer.scopeKey !== older.scopeKey) return false;
  const later = newer.thisUpdate.getTime() - older.thisUpdate.getTime();
  // A delta is of the same time as the list that it changes, or later.
  return later > 0 || (later === 0 && (newer.isDelta || newer.number > older.number));
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

/** Why something with these times does not tell of now, for people; undefined when it does. */
export function stalenessOf(thisUpdate: Date, nextUpdate: Date | undefined, now: Date): string | undefined {
  if (thisUpdate.getTime() > now.getTime() + SKEW_MILLISECONDS) return `it is of the future (${secondOf(thisUpdate)})`;
  const end = nextUpdate?.getTime() ?? thisUpdate.getTime() + WITHOUT_NEXT_MILLISECONDS;
  return end + SKEW_MILLISECONDS < now.getTime() ? `it expired on ${secondOf(new Date(end))}` : undefined;
}
