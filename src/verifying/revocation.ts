/** Whether certificates were revoked: by the CRLs a user gives, and by what the certificates' own addresses answer. */

import { NO_REVOCATION_AVAILABLE, TIME_STAMPING } from '../asn1/object-identifiers.ts';
import { secondOf } from '../asn1/times.ts';
import { remembering } from '../bytes/reuse.ts';
import { basicConstraintsOf, extendedKeyUsageOf } from '../certificates/certificate-fields.ts';
import type { ParsedCertificate } from '../certificates/parsed-certificate.ts';
import type { Crl } from '../certificates/revocation/crl.ts';
import {
  type CombinedStatus,
  combineStatements,
  isCompromise,
  nameOfReason,
  type Revoked,
  type Statement,
  statementByCrl,
  unknownBecause,
} from '../certificates/revocation/status.ts';
import { isSignedBy, type Signed } from '../certificates/signature-algorithm.ts';
import { fingerprintOf } from '../crypto/fingerprint.ts';
import { orUndefined } from '../errors/codesign-error.ts';
import type { Finding } from '../errors/finding.ts';
import type { Http } from '../http/http.ts';
import { type Asked, type AskOnline, askOnline } from './online-revocation.ts';

export type Revocation = ReturnType<typeof createRevocation>;

export interface RevocationOptions {
  /** Of --crl-file. */
  readonly crls: readonly Crl[];
  /** Asks the addresses in the certificates; undefined: only the CRLs given count. */
  readonly http: Pick<Http, 'get' | 'post'> | undefined;
  /** What is fresh is so at this time, whenever the certificates were used. */
  readonly now: Date;
  readonly deadlineMilliseconds?: number;
}

const MAX_REMEMBERED = 1000;
const DEADLINE_MILLISECONDS = 15_000;

/** What is asked of the network is asked once for each certificate, whatever the number of files. */
export function createRevocation(options: RevocationOptions) {
  const { crls, http, now, deadlineMilliseconds = DEADLINE_MILLISECONDS } = options;
  const isSigned = rememberingSignatures();
  const byCrl = (crl: Crl, { certificate, issuer, otherKeys }: Asked): Statement => {
    const byKeyOf = (signer: ParsedCertificate) => statementByCrl(crl, certificate, signer, now, isSigned);
    const statement = byKeyOf(issuer);
    if (statement.list !== undefined) return statement;
    // Whether such a key was revoked itself is not asked, so that its lists say "revoked" and never "good".
    const revoked = otherKeys.map((other) => byKeyOf(other).status).find(({ kind }) => kind === 'revoked');
    return revoked === undefined ? statement : { status: revoked };
  };
  const online = http && askOnline({ http, now, deadlineMilliseconds, byCrl });
  const statusOf = remembering(MAX_REMEMBERED, keyOf, (asked: Asked) => findStatus(asked, crls, byCrl, online));
  return {
    /** What CRLs and OCSP say of a certificate that was used at a time; findings rather than throws. */
    async examine(
      certificate: ParsedCertificate,
      issuer: ParsedCertificate,
      at: Date,
      otherKeys: readonly ParsedCertificate[] = [],
    ): Promise<readonly Finding[]> {
      const status = await statusOf({ certificate, issuer, otherKeys });
      // A source that says "revoked" nevertheless counts.
      if (status.kind === 'unknown' && isNeverRevoked(certificate)) return [];
      return revocationFindings(status, certificate, at);
    },
  };
}

/** The network is asked unless a CRL given already says "revoked" for good. */
async function findStatus(
  asked: Asked,
  crls: readonly Crl[],
  byCrl: (crl: Crl, asked: Asked) => Statement,
  online: AskOnline | undefined,
): Promise<CombinedStatus> {
  const ofIssuer = crls.filter(({ issuerKey }) => issuerKey === asked.certificate.issuerKey);
  const fromFiles = ofIssuer.map((crl) => fromFile(byCrl(crl, asked)));
  const isSettled = fromFiles.some(({ status, withoutHold }) => status.kind === 'revoked' && withoutHold === undefined);
  if (online !== undefined && !isSettled) {
    // A newer list may lift a hold; an OCSP answer does not say of when the hold was.
    const needsLists = fromFiles.some(({ withoutHold }) => withoutHold !== undefined);
    return combineStatements([...(await online(asked, needsLists)), ...fromFiles]);
  }
  if (fromFiles.length > 0) return combineStatements(fromFiles);
  return unknownBecause(`no CRL of "${asked.certificate.issuerName}" is given`);
}

function fromFile(statement: Statement): Statement {
  const { status } = statement;
  if (status.kind !== 'unknown') return statement;
  return { ...statement, status: unknownBecause(`a CRL given: ${status.why}`) };
}

/** RFC 9608, 4: the extension is for certificates of end entities. A damaged extension is among the path's findings. */
function isNeverRevoked({ fields }: ParsedCertificate): boolean {
  return (
    fields.extensions.has(NO_REVOCATION_AVAILABLE) &&
    orUndefined(() => basicConstraintsOf(fields)?.isAuthority !== true) === true
  );
}

/** Checking the signature of a large CRL takes a tenth of a second. */
function rememberingSignatures(): typeof isSignedBy {
  const verdicts = new WeakMap<Signed, Map<string, boolean>>();
  return (issuer, crl) => {
    const known = verdicts.get(crl) ?? new Map<string, boolean>();
    verdicts.set(crl, known);
    const key = fingerprintOf(issuer.fields.publicKeyInfo);
    const verdict = known.get(key) ?? isSignedBy(issuer, crl);
    known.set(key, verdict);
    return verdict;
  };
}

function keyOf({ certificate, issuer, otherKeys }: Asked): string {
  const keys = [issuer, ...otherKeys].map(({ fields }) => fingerprintOf(fields.publicKeyInfo));
  return [fingerprintOf(certificate.der), ...keys].join(' ');
}

/** unspecified, affiliationChanged, superseded, cessationOfOperation. */
const HARMLESS_TO_TIMESTAMPS: ReadonlySet<number> = new Set([0, 3, 4, 5]);

/**
 * Windows and jarsigner compare the date of the revocation with the time of the signature, whatever the reason: authorities
 * are to date it back to when the key was lost. So does this, except in two cases. A CRL may report a lost key by an
 * invalidityDate before the revocation: then that counts (RFC 5280, 5.3.2). And who has the key of a timestamp authority
 * can make any time, so that its tokens end with it altogether, unless the reason says that the key is safe (RFC 3161, 4).
 */
export function revocationFindings(status: CombinedStatus, certificate: ParsedCertificate, at: Date): Finding[] {
  const { name } = certificate;
  switch (status.kind) {
    case 'good':
      return [];
    case 'unknown': {
      const message = `Whether the certificate of "${name}" was revoked could not be found out: ${status.why}.`;
      return [{ code: 'revocation-unknown', message, against: 'trust' }];
    }
    case 'revoked': {
      const findings = status.revoked.map((one) => findingOf(one, certificate, at));
      // One finding is enough: the first statement that ends trust, otherwise the first.
      return [...findings.filter(({ against }) => against === 'trust'), ...findings].slice(0, 1);
    }
  }
}

function findingOf(revoked: Revoked, certificate: ParsedCertificate, at: Date): Finding {
  const reason = nameOfReason(revoked.reason);
  const because = reason === undefined ? '' : ` (${reason})`;
  const { isAgainst, words } = consequence(revoked, certificate, at);
  const message = `The certificate of "${certificate.name}" was revoked on ${secondOf(revoked.revokedAt)}${because}${words}.`;
  return { code: 'certificate-revoked', message, against: isAgainst ? 'trust' : 'nothing' };
}

/** Whether it ends trust in what the certificate was used for, and words that say why or why not. */
function consequence({ revokedAt, reason, invalidSince }: Revoked, certificate: ParsedCertificate, at: Date) {
  if (revokedAt <= at) return { isAgainst: true, words: '' };
  if (isCompromise(reason) && invalidSince !== undefined && invalidSince <= at) {
    return { isAgainst: true, words: `, and its key is not to be relied on since ${secondOf(invalidSince)}` };
  }
  if (isTimeStamper(certificate) && !(reason !== undefined && HARMLESS_TO_TIMESTAMPS.has(reason))) {
    return { isAgainst: true, words: ', and no timestamp of it counts any more' };
  }
  return { isAgainst: false, words: `, after it was used (${secondOf(at)})` };
}

/** A damaged extension is among the path's findings. */
function isTimeStamper({ fields }: ParsedCertificate): boolean {
  return orUndefined(() => extendedKeyUsageOf(fields))?.includes(TIME_STAMPING) ?? false;
}
