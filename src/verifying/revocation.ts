/** Whether certificates were revoked: by the CRLs a user gives, and by what the certificates' own addresses answer. */

import { createHash } from 'node:crypto';
import type { Crl } from '../certificates/crl.ts';
import { crlIsSignedBy, judgeByCrl } from '../certificates/judge-crl.ts';
import type { ParsedCertificate } from '../certificates/parsed-certificate.ts';
import type { RevocationStatus } from '../certificates/revocation-status.ts';
import type { Finding } from '../errors/finding.ts';
import type { Http } from '../http/http.ts';
import { type Asked, type AskOnline, askOnline } from './ask-online.ts';
import { remembering } from './remembering.ts';
import { revocationFindings } from './revocation-findings.ts';

export interface Revocation {
  /** What CRLs and OCSP say of a certificate that was used at a time; findings rather than throws. */
  judge(certificate: ParsedCertificate, issuer: ParsedCertificate, at: Date): Promise<readonly Finding[]>;
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
  const byCrl = (crl: Crl, { certificate, issuer }: Asked): RevocationStatus =>
    judgeByCrl(crl, certificate, issuer, now, isSigned);
  const online = http && askOnline({ http, now, deadlineMilliseconds, byCrl });
  const statusOf = remembering(MAX_REMEMBERED, keyOf, (asked: Asked) => findStatus(asked, crls, byCrl, online));
  return {
    async judge(certificate, issuer, at) {
      if (certificate.fields.extensions.has(NO_REVOCATION_AVAILABLE)) return [];
      return revocationFindings(await statusOf({ certificate, issuer }), certificate, at);
    },
  };
}

/** "Revoked" counts wherever it is said; "good" of the network is newer than that of a file. */
async function findStatus(
  asked: Asked,
  crls: readonly Crl[],
  byCrl: (crl: Crl, asked: Asked) => RevocationStatus,
  online: AskOnline | undefined,
): Promise<RevocationStatus> {
  const ofIssuer = crls.filter(({ issuerKey }) => issuerKey === asked.certificate.issuerKey);
  const fromFiles = bestOf(ofIssuer.map((crl) => byCrl(crl, asked)));
  if (online === undefined) {
    return fromFiles ?? { kind: 'unknown', why: `no CRL of "${asked.certificate.issuerName}" is given` };
  }
  if (fromFiles?.kind === 'revoked') return fromFiles;
  const fromNetwork = await online(asked);
  return fromNetwork.kind === 'unknown' && fromFiles?.kind === 'good' ? fromFiles : fromNetwork;
}

function bestOf(statuses: readonly RevocationStatus[]): RevocationStatus | undefined {
  const reasons = statuses.flatMap((status) => (status.kind === 'unknown' ? [`a CRL given: ${status.why}`] : []));
  return (
    statuses.find(({ kind }) => kind === 'revoked') ??
    statuses.find(({ kind }) => kind === 'good') ??
    (reasons.length === 0 ? undefined : { kind: 'unknown', why: reasons.join('; ') })
  );
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

function keyOf({ certificate, issuer }: Asked): string {
  return `${digestOf(certificate.der)} ${digestOf(issuer.fields.publicKeyInfo)}`;
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64');
}
