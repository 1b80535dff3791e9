import { secondOf } from '../asn1/times.ts';
import type { ParsedCertificate } from '../certificates/certificate.ts';
import type { Purpose } from '../certificates/purpose.ts';
import { fingerprintOf } from '../crypto/fingerprint.ts';
import { type Finding, hasFindingAgainst, untrusted } from '../errors/finding.ts';
import { containedAs, type FoundSignature } from '../format/signature.ts';
import type { Timestamp } from '../timestamp/timestamp.ts';
import type { ExamineTrust, Trust } from './trust.ts';
import {
  type Identity,
  integrityBy,
  type PathCertificate,
  type VerifiedSignature,
  type VerifiedTimestamp,
  worstOf,
} from './verdict.ts';

export interface SignatureContext {
  readonly examineTrust: ExamineTrust | undefined;
  readonly now: Date;
  readonly purpose: Purpose;
}

/** Each signature is verified separately, so that data from one cannot affect another. */
export async function verifySignature(
  signature: FoundSignature,
  context: SignatureContext,
): Promise<VerifiedSignature> {
  const { location, signer, certificates, algorithm } = signature;
  const { examineTrust, now, purpose } = context;
  const timestamps = await inOrder(signature.timestamps, (one) =>
    verifyTimestamp(one, examineTrust, now, certificates),
  );
  const time = earliest(timestamps.filter(isGood));
  const { certificate: leaf } = signer;
  const trust = leaf && (await examineTrust?.({ leaf, certificates, at: time ?? now, purpose }));
  const findings = [...(await signature.examine()), ...(trust?.findings ?? [])];
  // A file with an invalid timestamp must be rejected, even if the certificate has not expired.
  const integrity = worstOf([integrityBy(findings), ...timestamps.map((timestamp) => timestamp.integrity)]);
  const isTrusted = trust?.isTrusted === true && timestamps.every((timestamp) => timestamp.trust === 'trusted');
  return {
    place: location,
    integrity,
    trust: examineTrust === undefined ? 'not-checked' : isTrusted ? 'trusted' : 'untrusted',
    signer: identityOf(signer.name, signer.certificate, trust),
    algorithm,
    time,
    timestamps,
    findings,
    nested: [
      ...(await inOrder(containedAs('co-signer', signature), async (one) => ({
        ...(await verifySignature(one, context)),
        isCoSigner: true,
      }))),
      ...(await inOrder(containedAs('nested', signature), (one) => verifySignature(one, context))),
    ],
  };
}

function isGood({ integrity, trust }: VerifiedTimestamp): boolean {
  return integrity === 'intact' && trust !== 'untrusted';
}

function earliest(timestamps: readonly VerifiedTimestamp[]): Date | undefined {
  const times = timestamps.flatMap(({ time }) => (time === undefined ? [] : [time.getTime()]));
  return times.length === 0 ? undefined : new Date(times.reduce((first, time) => Math.min(first, time)));
}

/** Verifying signatures concurrently would not be faster, because they read the same content. */
async function inOrder<In, Out>(items: readonly In[], work: (item: In) => Promise<Out>): Promise<Out[]> {
  const results: Out[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}

/** Permitted difference between the authority's clock and this machine's clock. */
const TOLERANCE_MILLISECONDS = 10 * 60 * 1000;

/**
 * `others` contains DER certificates from the enclosing signature. Some programs store the issuers of the authority's
 * certificate there.
 */
export async function verifyTimestamp(
  timestamp: Timestamp,
  examineTrust: ExamineTrust | undefined,
  now: Date,
  others: readonly Uint8Array[] = [],
): Promise<VerifiedTimestamp> {
  const { kind, time, signerCertificate: leaf, signerName } = timestamp;
  const certificates = [...timestamp.certificates, ...others];
  // The authority's certificate must have been valid at the time of the timestamp. It may have expired since then.
  const trust = leaf && time && (await examineTrust?.({ leaf, certificates, at: time, purpose: 'time-stamping' }));
  const findings = [...timestamp.findings, ...(trust?.findings ?? []), ...futureFindings(time, now)];
  const stated = integrityBy(findings);
  const integrity = time === undefined && stated === 'intact' ? 'broken' : stated;
  const isTrusted = trust?.isTrusted === true && !hasFindingAgainst(findings, 'trust');
  return {
    kind,
    time,
    integrity,
    trust: examineTrust === undefined ? 'not-checked' : isTrusted ? 'trusted' : 'untrusted',
    signer: identityOf(signerName, leaf, trust),
    findings,
  };
}

function futureFindings(time: Date | undefined, now: Date): Finding[] {
  if (time === undefined || time.getTime() <= now.getTime() + TOLERANCE_MILLISECONDS) return [];
  const message = `The time in the timestamp is in the future: ${secondOf(time)}.`;
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
