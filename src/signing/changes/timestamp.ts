import { parseCertificate } from '../../certificates/certificate.ts';
import { dateOf } from '../../certificates/signing-chain.ts';
import type { SignedContent } from '../../cms/verify-signer.ts';
import type { DigestAlgorithm } from '../../crypto/algorithms.ts';
import { orUndefined, toCodesignError } from '../../errors/codesign-error.ts';
import { hasFindingAgainst, isAgainst } from '../../errors/finding.ts';
import { formatErrors } from '../../format/errors.ts';
import { type Format, requireCapability, signingOf } from '../../format/format.ts';
import type { Expected, SignableFile } from '../../format/signable-file.ts';
import { type FoundSignature, withNested } from '../../format/signature.ts';
import type { Stamped, TimestampAuthorities } from '../../timestamp/authorities.ts';
import type { Timestamp } from '../../timestamp/timestamp.ts';
import { changeEach } from '../change-each.ts';
import { signingErrors } from '../errors.ts';
import { requireUnbroken } from '../existing-signatures.ts';
import { commit, openOriginal, reopenCopy, writtenOutcome } from '../files/commit.ts';
import { type OpenFile, openFile } from '../files/open-file.ts';
import type { ChangeFilesResult, FileToSign, TimestampedOutcome } from '../outcome.ts';
import { planFiles } from '../plan-files.ts';
import { type Intent, type PlannedFile, type RecognisedFile, WITHOUT_SIGNATURE } from '../planned-file.ts';
import { type Run, type StartedRun, type StopSignal, startRun } from '../run.ts';
import { isoTime } from '../service/timestamps.ts';

export interface Timestamping {
  readonly authorities: TimestampAuthorities;
  readonly algorithm: DigestAlgorithm;
  /** Replaces existing timestamps, and also adds timestamps to signatures that a timestamp cannot make valid. */
  readonly force: boolean;
}

interface TimestampingRun extends StartedRun, Omit<Timestamping, 'authorities'> {
  stamp(signature: SignedContent): Promise<Stamped>;
}

export async function timestampFiles(
  files: readonly FileToSign[],
  { authorities, ...timestamping }: Timestamping,
  given: Run,
  signal?: AbortSignal,
): Promise<ChangeFilesResult> {
  using started = startRun(given, signal);
  const run = { ...started, ...timestamping, stamp: stampWith(authorities, started.stop) };
  const planned = await planFiles(files, run, (opened, file) => decide(opened, file, run));
  const outcomes = await changeEach(planned, run, (plan) => timestampFile(plan, run));
  return { files: outcomes, warnings: run.listenerWarnings };
}

async function decide(
  opened: SignableFile,
  { pathInFolder, time, format }: RecognisedFile,
  { algorithm, force }: TimestampingRun,
): Promise<Intent> {
  const signatures = withNested(await opened.signatures());
  if (signatures.length === 0) {
    if (pathInFolder !== undefined) return { ...WITHOUT_SIGNATURE, skipped: 'not-signed' };
    throw formatErrors('not-signed');
  }
  if (!force) refuseBrokenTimestamps(signatures);
  const lacking = choose(signatures, force);
  for (const signature of lacking) assertWorthwhile(signature, time, force);
  const stamping = requireCapability(opened.stamping, 'timestamped', format);
  if (stamping.of === 'file') await requireUnbroken(opened, await opened.signatures(), format);
  const isStamped =
    stamping.of === 'each-signature' ? lacking.length === 0 : (await stamping.prepare(algorithm, force)) === undefined;
  return { ...WITHOUT_SIGNATURE, skipped: isStamped ? 'already-timestamped' : undefined };
}

async function timestampFile(plan: PlannedFile, run: TimestampingRun): Promise<TimestampedOutcome> {
  await using file = await openFile(plan, run);
  const { embedding, isWhole, ...stamped } = await stampFile(await openOriginal(plan, file), plan.format, run);
  const { patch, ...expected } = embedding;
  await file.copy.apply(patch);
  const written = await commit(plan, file, check(plan, file, expected, isWhole), run);
  return { ...writtenOutcome(plan, written), status: 'timestamped', ...stamped };
}

async function check(plan: PlannedFile, file: OpenFile, expected: Expected, isWhole: boolean): Promise<void> {
  const result = await reopenCopy(plan, file);
  await signingOf(result, plan.format).verify(expected);
  const signatures = withNested(await result.signatures());
  assertStamped(signatures);
  // The age of the replaced timestamp may decide whether a SHA-1 signature is accepted.
  if (!isWhole) for (const signature of signatures) await assertIntact(signature, 'timestamp-breaks-signature');
}

/** `isWhole` is true if one timestamp covers all signatures in the file. */
async function stampFile(opened: SignableFile, format: Format, { algorithm, force, stamp }: TimestampingRun) {
  const stamping = requireCapability(opened.stamping, 'timestamped', format);
  const signatures = withNested(await opened.signatures());
  for (const signature of signatures) await assertIntact(signature, 'signature-broken');
  if (stamping.of === 'file') {
    const whole = await stamping.prepare(algorithm, force);
    if (whole === undefined) throw nothingToStamp();
    const stamped = await stamp({ digest: await whole.digest() });
    const embedding = whole.embed(stamped.token);
    return { ...describe(stamped), signatures: signatures.length, isWhole: true, embedding };
  }
  // If a timestamp cannot be added, this call throws before an authority is called.
  await stamping.stamp(new Map());
  const tokens = new Map<string, Uint8Array>();
  let first: Stamped | undefined;
  for (const signature of choose(signatures, force)) {
    const stamped = await stamp(signatureValueOf(signature));
    tokens.set(signature.location, stamped.token);
    first ??= stamped;
  }
  if (first === undefined) throw nothingToStamp();
  const embedding = await stamping.stamp(tokens);
  return { ...describe(first), signatures: tokens.size, isWhole: false, embedding };
}

const nothingToStamp = () => new TypeError('a file with nothing to stamp is skipped');

function describe({ time, authority }: Stamped) {
  return { timestamp: isoTime(time), authority };
}

function choose(signatures: readonly FoundSignature[], force: boolean): readonly FoundSignature[] {
  return force ? signatures : signatures.filter(({ timestamps }) => timestamps.length === 0);
}

function isSound({ findings }: Timestamp): boolean {
  return !hasFindingAgainst(findings, 'integrity');
}

/** Replacing a broken timestamp silently would hide the damage, and skipping the file would report it as valid. */
function refuseBrokenTimestamps(signatures: readonly FoundSignature[]): void {
  for (const { timestamps, signer } of signatures) {
    if (timestamps.length === 0 || timestamps.some(isSound)) continue;
    const problem = timestamps[0]?.findings.find((finding) => isAgainst(finding, 'integrity'))?.message ?? '';
    throw signingErrors('timestamp-broken', { signer: signer.name, problem });
  }
}

/** Verifiers require that the certificate was valid at the time of the timestamp. */
function assertWorthwhile({ signer: { name, certificate }, timestamps }: FoundSignature, now: Date, force: boolean) {
  // A certificate that cannot be read is reported later, because its signature does not verify.
  const expired = certificate && orUndefined(() => parseCertificate(certificate, 'signature').notAfter);
  if (expired === undefined || now <= expired) return;
  const details = { signer: name, date: dateOf(expired) };
  const proof = timestamps.find((timestamp) => isSound(timestamp) && timestamp.time && timestamp.time <= expired);
  if (proof) throw signingErrors('timestamp-irreplaceable', details);
  if (!force) throw signingErrors('signer-expired', details);
}

async function assertIntact(
  signature: FoundSignature,
  code: 'signature-broken' | 'timestamp-breaks-signature',
): Promise<void> {
  const finding = (await signature.examine()).find((finding) => isAgainst(finding, 'integrity'));
  if (finding === undefined) return;
  throw signingErrors(code, { signer: signature.signer.name, problem: finding.message });
}

function signatureValueOf({ value }: FoundSignature): Uint8Array {
  if (value === undefined) throw new TypeError('a signature that cannot be read was treated as intact');
  return value;
}

function assertStamped(signatures: readonly FoundSignature[]): void {
  for (const { timestamps } of signatures) {
    if (!timestamps.some(isSound)) {
      throw formatErrors('result-damaged', { reason: 'a signature in it has no sound timestamp' });
    }
  }
}

/** A failure before the first timestamp stops the run, because every other file would fail after the same wait. */
function stampWith(authorities: TimestampAuthorities, stop: StopSignal): TimestampingRun['stamp'] {
  let isProven = false;
  return async (signature) => {
    stop.throwIfStopped();
    try {
      const stamped = await authorities.stamp(signature, stop.signal);
      isProven = true;
      return stamped;
    } catch (thrown) {
      stop.throwIfStopped();
      const error = toCodesignError(thrown);
      if (!isProven) stop.stop('no timestamp authority returns a usable timestamp', error);
      throw error;
    }
  };
}
