import { parseCertificate } from '../../certificates/parsed-certificate.ts';
import { dateOf } from '../../certificates/signing-chain.ts';
import type { SignedContent } from '../../cms/verify-signer.ts';
import type { DigestAlgorithm } from '../../crypto/algorithms.ts';
import { orUndefined, toCodesignError } from '../../errors/codesign-error.ts';
import { speaksAgainst } from '../../errors/finding.ts';
import { formatErrors } from '../../formats/errors.ts';
import { type EmbeddedSignature, flatten, type PreparedTimestamp } from '../../formats/format.ts';
import type { Stamped, TimestampAuthorities } from '../../timestamp/authorities.ts';
import type { Timestamp } from '../../timestamp/timestamp.ts';
import type { Batch } from '../batch.ts';
import type { LocalChange, PreparedLocalChange } from '../change-files.ts';
import { signingErrors } from '../errors.ts';
import { isoTime } from '../service/timestamps.ts';
import { TOKEN_RESERVE } from '../signing-context.ts';

export interface Timestamping {
  readonly authorities: TimestampAuthorities;
  /** The authorities' digest algorithm. */
  readonly algorithm: DigestAlgorithm;
  /** Replaces the timestamps that are there, and stamps what a timestamp of now does not help. */
  readonly force: boolean;
  readonly now: () => Date;
}

export function addTimestamps(timestamping: Timestamping): LocalChange {
  const { force, now, algorithm } = timestamping;
  const ofDocument = { algorithm, tokenReserve: TOKEN_RESERVE, force };
  const request = requestTimestamp(timestamping.authorities);
  return {
    async decide(opened, file) {
      const signatures = flatten(await opened.signatures());
      if (signatures.length === 0) {
        // Who names a folder means the signed files in it.
        if (file.pathInFolder !== undefined) return 'not-signed';
        throw formatErrors('not-signed');
      }
      if (!force) refuseBrokenTimestamps(signatures);
      const lacking = choose(signatures, force);
      for (const signature of lacking) assertWorthwhile(signature, now(), force);
      if (opened.prepareTimestamp !== undefined) {
        return (await opened.prepareTimestamp(ofDocument)) === undefined ? 'already-timestamped' : undefined;
      }
      return lacking.length === 0 ? 'already-timestamped' : undefined;
    },
    async prepare(opened, batch) {
      const signatures = flatten(await opened.signatures());
      for (const signature of signatures) await assertIntact(signature, 'signature-broken');
      const whole = await opened.prepareTimestamp?.(ofDocument);
      if (whole !== undefined)
        return stampWhole(whole, signatures.length, async (digest) => request({ digest }, batch));
      // What makes stamping impossible shows before anyone is asked.
      await opened.stamp(new Map());
      const stamps = new Map<EmbeddedSignature, Stamped>();
      for (const signature of choose(signatures, force)) {
        stamps.set(signature, await request(signatureValueOf(signature), batch));
      }
      const embedding = await opened.stamp(new Map(Array.from(stamps, ([key, { token }]) => [key, token])));
      return {
        patch: embedding.patch,
        async check(result) {
          await result.verifyResult(embedding);
          const stamped = flatten(await result.signatures());
          assertStamped(stamped);
          // SHA-1 may rest on the age of the timestamp that went.
          for (const signature of stamped) await assertIntact(signature, 'timestamp-breaks-signature');
        },
        done: { status: 'timestamped', ...firstOf(stamps), signatures: stamps.size },
      };
    },
  };
}

/** A timestamp of the file as a whole: one for all its signatures. */
async function stampWhole(
  { digest, embed }: PreparedTimestamp,
  signatures: number,
  request: (digest: Uint8Array) => Promise<Stamped>,
): Promise<PreparedLocalChange> {
  const { token, time, authority } = await request(await digest());
  const embedding = embed(token);
  return {
    patch: embedding.patch,
    async check(result) {
      await result.verifyResult(embedding);
      assertStamped(await result.signatures());
    },
    done: { status: 'timestamped', timestamp: isoTime(time), authority, signatures },
  };
}

function choose(signatures: readonly EmbeddedSignature[], force: boolean): readonly EmbeddedSignature[] {
  return force ? signatures : signatures.filter(({ timestamps }) => timestamps.length === 0);
}

function isSound({ findings }: Timestamp): boolean {
  return !speaksAgainst(findings, 'integrity');
}

/** To stamp over one in silence would hide what happened to it; to skip the file would call it good. */
function refuseBrokenTimestamps(signatures: readonly EmbeddedSignature[]): void {
  for (const { timestamps, signerName } of signatures) {
    if (timestamps.length === 0 || timestamps.some(isSound)) continue;
    const problem = timestamps[0]?.findings.find(({ against }) => against === 'integrity')?.message ?? '';
    throw signingErrors('timestamp-broken', { signer: signerName, problem });
  }
}

/** A timestamp of now shows nothing for a certificate that has expired: verifiers ask whether it was valid at that time. */
function assertWorthwhile({ signerCertificate, signerName, timestamps }: EmbeddedSignature, now: Date, force: boolean) {
  // If the certificate cannot be read, its signature does not verify either, and that is reported.
  const expired = signerCertificate && orUndefined(() => parseCertificate(signerCertificate, 'signature').notAfter);
  if (expired === undefined || now <= expired) return;
  const details = { signer: signerName, date: dateOf(expired) };
  const proof = timestamps.find((timestamp) => isSound(timestamp) && timestamp.time && timestamp.time <= expired);
  if (proof) throw signingErrors('timestamp-irreplaceable', details);
  if (!force) throw signingErrors('signer-expired', details);
}

async function assertIntact(
  signature: EmbeddedSignature,
  code: 'signature-broken' | 'timestamp-breaks-signature',
): Promise<void> {
  const finding = (await signature.examine()).find(({ against }) => against === 'integrity');
  if (finding === undefined) return;
  throw signingErrors(code, { signer: signature.signerName, problem: finding.message });
}

/** Of an intact signature. */
function signatureValueOf({ signedData }: EmbeddedSignature): Uint8Array {
  if (signedData === undefined) throw new TypeError('a signature that cannot be read was treated as intact');
  return signedData.signers[0].signature;
}

function assertStamped(signatures: readonly EmbeddedSignature[]): void {
  for (const { timestamps } of signatures) {
    if (!timestamps.some(isSound)) {
      throw formatErrors('result-damaged', { reason: 'a signature in it has no sound timestamp' });
    }
  }
}

function firstOf(stamps: ReadonlyMap<unknown, Stamped>) {
  const [first] = stamps.values();
  if (first === undefined) throw new TypeError('a file with nothing to stamp is skipped');
  return { timestamp: isoTime(first.time), authority: first.authority };
}

/** Until the first timestamp succeeds, a failure stops the run: each further file would wait as long for nothing. */
function requestTimestamp(authorities: TimestampAuthorities) {
  let proven = false;
  return async (signature: SignedContent, batch: Batch): Promise<Stamped> => {
    batch.assertGoing();
    try {
      const stamped = await authorities.stamp(signature, batch.signal);
      proven = true;
      return stamped;
    } catch (thrown) {
      // Stopped while it waited: then what stopped the run is the reason.
      batch.assertGoing();
      const error = toCodesignError(thrown);
      if (!proven) batch.stop('no timestamp authority returns a usable timestamp', error);
      throw error;
    }
  };
}
