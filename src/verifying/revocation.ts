/** Whether certificates were revoked: by the CRLs a user gives, and by what the certificates' own addresses answer. */

import { createHash } from 'node:crypto';
import { basicConstraintsOf } from '../certificates/certificate-fields.ts';
import type { Crl } from '../certificates/crl.ts';
import { crlIsSignedBy, judgeByCrl } from '../certificates/judge-crl.ts';
import type { ParsedCertificate } from '../certificates/parsed-certificate.ts';
import { type CombinedStatus, combineStatements, type Statement } from '../certificates/revocation-status.ts';
import { CodesignError } from '../errors/codesign-error.ts';
import type { Finding } from '../errors/finding.ts';
import type { Http } from '../http/http.ts';
import { type Asked, type AskOnline, askOnline } from './ask-online.ts';
import { remembering } from './remembering.ts';
import { revocationFindings } from './revocation-findings.ts';

export interface Revocation {
  /** What CRLs and OCSP say of a certificate that was used at a time; findings rather than throws. */
  judge(
    certificate: ParsedCertificate,
    issuer: ParsedCertificate,
    at: Date,
    otherKeys?: readonly ParsedCertificate[],
  ): Promise<readonly Finding[]>;
}

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
/** RFC 9608: the authority will never revoke it, because it lives for hours. */
const NO_REVOCATION_AVAILABLE = '2.5.29.56';

/** What is asked of the network is asked once for each certificate, whatever the number of files. */
export function createRevocation(options: RevocationOptions): Revocation {
  const { crls, http, now, deadlineMilliseconds = DEADLINE_MILLISECONDS } = options;
  const isSigned = rememberingSignatures();
  const byCrl = (crl: Crl, { certificate, issuer, otherKeys }: Asked): Statement => {
    const byKeyOf = (signer: ParsedCertificate) => judgeByCrl(crl, certificate, signer, now, isSigned);
    const statement = byKeyOf(issuer);
    if (statement.list !== undefined) return statement;
    // Whether such a key was revoked itself is not asked, so that its lists say "revoked" and never "good".
    const revoked = otherKeys.map((other) => byKeyOf(other).status).find(({ kind }) => kind === 'revoked');
    return revoked === undefined ? statement : { status: revoked };
  };
  const online = http && askOnline({ http, now, deadlineMilliseconds, byCrl });
  const statusOf = remembering(MAX_REMEMBERED, keyOf, (asked: Asked) => findStatus(asked, crls, byCrl, online));
  return {
    async judge(certificate, issuer, at, otherKeys = []) {
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
  return { kind: 'unknown', why: `no CRL of "${asked.certificate.issuerName}" is given` };
}

function fromFile(statement: Statement): Statement {
  const { status } = statement;
  if (status.kind !== 'unknown') return statement;
  return { ...statement, status: { kind: 'unknown', why: `a CRL given: ${status.why}` } };
}

/** RFC 9608, 4: the extension is for certificates of end entities, never for those of authorities. */
function isNeverRevoked({ fields }: ParsedCertificate): boolean {
  if (!fields.extensions.has(NO_REVOCATION_AVAILABLE)) return false;
  try {
    return basicConstraintsOf(fields)?.isAuthority !== true;
  } catch (thrown) {
    if (!(thrown instanceof CodesignError)) throw thrown;
    return false; // a damaged extension is among the path's findings
  }
}

/** Checking the signature of a large CRL takes a tenth of a second. */
function rememberingSignatures(): typeof crlIsSignedBy {
  const verdicts = new WeakMap<Crl, Map<string, boolean>>();
  return (crl, issuer) => {
    const known = verdicts.get(crl) ?? new Map<string, boolean>();
    verdicts.set(crl, known);
    const key = digestOf(issuer.fields.publicKeyInfo);
    const verdict = known.get(key) ?? crlIsSignedBy(crl, issuer);
    known.set(key, verdict);
    return verdict;
  };
}

function keyOf({ certificate, issuer, otherKeys }: Asked): string {
  const keys = [issuer, ...otherKeys].map(({ fields }) => digestOf(fields.publicKeyInfo));
  return [digestOf(certificate.der), ...keys].join(' ');
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64');
}
