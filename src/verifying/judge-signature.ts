/** What one signature is worth, with its timestamps, its other signers and those nested in it. */

import { speaksAgainst } from '../errors/finding.ts';
import type { EmbeddedSignature } from '../formats/format.ts';
import { identityOf, judgeTimestamp } from './judge-timestamp.ts';
import type { JudgeTrust, Trust } from './trust.ts';
import type { VerifiedSignature, VerifiedTimestamp } from './verdict.ts';

export interface Judging {
  /** Undefined where trust is not asked about. */
  readonly judgeTrust: JudgeTrust | undefined;
  readonly now: Date;
}

/** Each is judged by itself; nothing of one speaks for another. */
export async function judgeSignature(signature: EmbeddedSignature, judging: Judging): Promise<VerifiedSignature> {
  const { location, signerCertificate, signerName, algorithm } = signature;
  const { judgeTrust, now } = judging;
  const timestamps = await inOrder(signature.timestamps, (one) =>
    judgeTimestamp(one, judgeTrust, now, signature.signedData?.certificates),
  );
  const time = earliest(timestamps.filter(isGood));
  const trust = await trustOf(signature, judgeTrust, time ?? now);
  const findings = [...(await signature.examine()), ...(trust?.findings ?? [])];
  // A timestamp that does not hold must not pass for one that does, even while the certificate is still valid.
  const isBroken = speaksAgainst(findings, 'integrity') || timestamps.some(({ integrity }) => integrity === 'broken');
  const isTrusted = trust?.isTrusted === true && timestamps.every((timestamp) => timestamp.trust === 'trusted');
  return {
    place: location,
    integrity: isBroken ? 'broken' : 'intact',
    trust: judgeTrust === undefined ? 'not-checked' : isTrusted ? 'trusted' : 'untrusted',
    signer: identityOf(signerName, signerCertificate, trust),
    algorithm,
    time,
    timestamps,
    findings,
    nested: [
      ...(await inOrder(signature.coSigners ?? [], async (signer) => ({
        ...(await judgeSignature(signer, judging)),
        isCoSigner: true,
      }))),
      ...(await inOrder(signature.nested, (inner) => judgeSignature(inner, judging))),
    ],
  };
}

async function trustOf(
  { signerCertificate, signedData }: EmbeddedSignature,
  judgeTrust: JudgeTrust | undefined,
  at: Date,
): Promise<Trust | undefined> {
  if (judgeTrust === undefined || signerCertificate === undefined) return undefined;
  const certificates = signedData?.certificates ?? [];
  return judgeTrust({ leaf: signerCertificate, certificates, at, purpose: 'code-signing' });
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
