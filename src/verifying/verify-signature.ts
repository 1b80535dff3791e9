import { secondOf } from '../asn1/times.ts';
import type { ParsedCertificate } from '../certificates/parsed-certificate.ts';
import type { Purpose } from '../certificates/purpose.ts';
import { fingerprintOf } from '../crypto/fingerprint.ts';
import { type Finding, speaksAgainst, untrusted } from '../errors/finding.ts';
import type { EmbeddedSignature } from '../formats/format.ts';
import type { Timestamp } from '../timestamp/timestamp.ts';
import type { ExamineTrust, Trust } from './trust.ts';
import type { Identity, PathCertificate, VerifiedSignature, VerifiedTimestamp } from './verdict.ts';
import { integrityBy, worstOf } from './verdict.ts';

export interface SignatureContext {
  /** Undefined where trust is not asked about. */
  readonly examineTrust: ExamineTrust | undefined;
  readonly now: Date;
  /** What the signer's certificate must be for. */
  readonly purpose: Purpose;
}

/** Each signature is verified by itself; nothing in one counts for another. */
export async function verifySignature(
  signature: EmbeddedSignature,
  context: SignatureContext,
): Promise<VerifiedSignature> {
  const { location, signerCertificate, signerName, algorithm } = signature;
  const { examineTrust, now, purpose } = context;
  const timestamps = await inOrder(signature.timestamps, (one) =>
    verifyTimestamp(one, examineTrust, now, signature.signedData?.certificates),
  );
  const time = earliest(timestamps.filter(isGood));
  const trust = await signerTrust(signature, examineTrust, time ?? now, purpose);
  const findings = [...(await signature.examine()), ...(trust?.findings ?? [])];
  // A timestamp that does not hold must not pass for one that does, even while the certificate is still valid.
  const integrity = worstOf([integrityBy(findings), ...timestamps.map((timestamp) => timestamp.integrity)]);
  const isTrusted = trust?.isTrusted === true && timestamps.every((timestamp) => timestamp.trust === 'trusted');
  return {
    place: location,
    integrity,
    trust: examineTrust === undefined ? 'not-checked' : isTrusted ? 'trusted' : 'untrusted',
    signer: identityOf(signerName, signerCertificate, trust),
    algorithm,
    time,
    timestamps,
    findings,
    nested: [
      ...(await inOrder(signature.coSigners ?? [], async (signer) => ({
        ...(await verifySignature(signer, context)),
        isCoSigner: true,
      }))),
      ...(await inOrder(signature.nested, (inner) => verifySignature(inner, context))),
    ],
  };
}

async function signerTrust(
  { signerCertificate, signedData }: EmbeddedSignature,
  examineTrust: ExamineTrust | undefined,
  at: Date,
  purpose: Purpose,
): Promise<Trust | undefined> {
  if (examineTrust === undefined || signerCertificate === undefined) return undefined;
  const certificates = signedData?.certificates ?? [];
  return examineTrust({ leaf: signerCertificate, certificates, at, purpose });
}

function isGood({ integrity, trust }: VerifiedTimestamp): boolean {
  return integrity === 'intact' && trust !== 'untrusted';
}

function earliest(timestamps: readonly VerifiedTimestamp[]): Date | undefined {
  const times = timestamps.flatMap(({ time }) => (time === undefined ? [] : [time.getTime()]));
  return times.length === 0 ? undefined : new Date(times.reduce((first, time) => Math.min(first, time)));
}

/** One after the other: the same content is asked about, and nothing is gained at once. */
async function inOrder<In, Out>(items: readonly In[], work: (item: In) => Promise<Out>): Promise<Out[]> {
  const results: Out[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}

/** An authority's clock, or this machine's, may be a little off. */
const TOLERANCE_MILLISECONDS = 10 * 60 * 1000;

/**
 * `examineTrust`: undefined where trust is not checked. `others`: certificates of the signature that it is on, DER; some
 * programs put the authority's issuers there.
 */
export async function verifyTimestamp(
  timestamp: Timestamp,
  examineTrust: ExamineTrust | undefined,
  now: Date,
  others: readonly Uint8Array[] = [],
): Promise<VerifiedTimestamp> {
  const { kind, time, signerCertificate, signerName } = timestamp;
  const trust = await authorityTrust(timestamp, examineTrust, others);
  const findings = [...timestamp.findings, ...(trust?.findings ?? []), ...aboutFuture(time, now)];
  const stated = integrityBy(findings);
  const integrity = time === undefined && stated === 'intact' ? 'broken' : stated;
  const isTrusted = trust?.isTrusted === true && !speaksAgainst(findings, 'trust');
  return {
    kind,
    time,
    integrity,
    trust: examineTrust === undefined ? 'not-checked' : isTrusted ? 'trusted' : 'untrusted',
    signer: identityOf(signerName, signerCertificate, trust),
    findings,
  };
}

/** An authority's certificate must have been valid when it signed; that it has expired since is what timestamps are for. */
async function authorityTrust(
  { signerCertificate, certificates, time }: Timestamp,
  examineTrust: ExamineTrust | undefined,
  others: readonly Uint8Array[],
): Promise<Trust | undefined> {
  if (examineTrust === undefined || signerCertificate === undefined || time === undefined) return undefined;
  const pool = [...certificates, ...others];
  return examineTrust({ leaf: signerCertificate, certificates: pool, at: time, purpose: 'time-stamping' });
}

function aboutFuture(time: Date | undefined, now: Date): Finding[] {
  if (time === undefined || time.getTime() <= now.getTime() + TOLERANCE_MILLISECONDS) return [];
  const message = `The timestamp is of ${secondOf(time)}, which is yet to come.`;
  return [untrusted('timestamp-in-future', message)];
}

export function identityOf(name: string, certificate: Uint8Array | undefined, trust: Trust | undefined): Identity {
  return {
    name,
    sha256: certificate === undefined ? undefined : fingerprintOf(certificate),
    path: (trust?.path ?? []).map(described),
    root: trust?.root && described(trust.root),
  };
}

function described({ der, name, issuerName, notBefore, notAfter }: ParsedCertificate): PathCertificate {
  return { der, name, issuerName, notBefore, notAfter };
}
