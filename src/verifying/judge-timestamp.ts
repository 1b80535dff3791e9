/** What a timestamp is worth: sound, by an authority that is trusted, of a time that has come. */

import { createHash } from 'node:crypto';
import type { ParsedCertificate } from '../certificates/parsed-certificate.ts';
import { secondOf } from '../certificates/times.ts';
import { type Finding, speaksAgainst } from '../errors/finding.ts';
import type { Timestamp } from '../timestamp/timestamp.ts';
import type { JudgeTrust, Trust } from './trust.ts';
import type { Identity, PathCertificate, VerifiedTimestamp } from './verdict.ts';

/** An authority's clock, or this machine's, may be a little off. */
const TOLERANCE_MILLISECONDS = 10 * 60 * 1000;

/**
 * `judgeTrust`: undefined where trust is not asked about. `beside`: certificates of the signature that it is on, DER; some
 * programs put the authority's issuers there.
 */
export async function judgeTimestamp(
  timestamp: Timestamp,
  judgeTrust: JudgeTrust | undefined,
  now: Date,
  beside: readonly Uint8Array[] = [],
): Promise<VerifiedTimestamp> {
  const { kind, time, signerCertificate, signerName } = timestamp;
  const trust = await trustOf(timestamp, judgeTrust, beside);
  const findings = [...timestamp.findings, ...(trust?.findings ?? []), ...aboutFuture(time, now)];
  const integrity = time === undefined || speaksAgainst(findings, 'integrity') ? 'broken' : 'intact';
  const isTrusted = trust?.isTrusted === true && !speaksAgainst(findings, 'trust');
  return {
    kind,
    time,
    integrity,
    trust: judgeTrust === undefined ? 'not-checked' : isTrusted ? 'trusted' : 'untrusted',
    signer: identityOf(signerName, signerCertificate, trust),
    findings,
  };
}

/** An authority's certificate must have been valid when it signed; that it has expired since is what timestamps are for. */
async function trustOf(
  { signerCertificate, certificates, time }: Timestamp,
  judgeTrust: JudgeTrust | undefined,
  beside: readonly Uint8Array[],
): Promise<Trust | undefined> {
  if (judgeTrust === undefined || signerCertificate === undefined || time === undefined) return undefined;
  const pool = [...certificates, ...beside];
  return judgeTrust({ leaf: signerCertificate, certificates: pool, at: time, purpose: 'time-stamping' });
}

function aboutFuture(time: Date | undefined, now: Date): Finding[] {
  if (time === undefined || time.getTime() <= now.getTime() + TOLERANCE_MILLISECONDS) return [];
  const message = `The timestamp is of ${secondOf(time)}, which is yet to come.`;
  return [{ code: 'timestamp-in-future', message, against: 'trust' }];
}

export function identityOf(name: string, certificate: Uint8Array | undefined, trust: Trust | undefined): Identity {
  return {
    name,
    sha256: certificate === undefined ? undefined : createHash('sha256').update(certificate).digest('hex'),
    path: (trust?.path ?? []).map(described),
    root: trust?.root && described(trust.root),
  };
}

function described({ der, name, issuerName, notBefore, notAfter }: ParsedCertificate): PathCertificate {
  return { der, name, issuerName, notBefore, notAfter };
}
