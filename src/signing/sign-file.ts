/** THE MAIN FLOW: the walk of one file from its bytes to its signed bytes, as named steps. */

import type { InputFile } from '../files/input-file.ts';
import { contentReader } from '../formats/content-reader.ts';
import type { PreparedSignature } from '../formats/format.ts';
import type { AfterFile, Claim } from '../journal/journal.ts';
import type { SignatureRecord } from '../service/signing-service.ts';
import { type AlreadyThere, findAlreadyThere } from './existing-signatures.ts';
import { commit } from './files/commit.ts';
import { openJudged } from './files/open-file.ts';
import { assertUnchanged } from './files/same-file.ts';
import { type StagedCopy, stageCopy } from './files/staged-copy.ts';
import type { FileStep } from './outcome.ts';
import type { PlannedFile } from './plan.ts';
import { noted } from './service/call.ts';
import { describeRequest } from './service/client-info.ts';
import type { GivenSignature, RequestSignature, SignatureWork } from './service/signatures.ts';
import type { RequestTimestamp } from './service/timestamps.ts';
import type { Signing } from './signing.ts';
import { contextOf } from './signing-context.ts';

export interface SignedFile {
  readonly record: SignatureRecord;
  /** Whether the signature was there already. */
  readonly reused: boolean;
  /** How it stands with the signature now: whether the service is to be told. */
  readonly after: AfterFile;
  /** Undefined for a signature without a timestamp, or whose timestamp does not tell its time. */
  readonly stamped: { readonly time: Date; readonly authority: string | null } | undefined;
  /** Size of the signed file in bytes. */
  readonly bytes: number;
  /** Whole sentences on what went wrong after the file was in place. */
  readonly warnings: readonly string[];
}

/** What others are asked for. */
export interface Remote {
  readonly requestSignature: RequestSignature;
  /** Undefined for signatures without a timestamp. */
  readonly requestTimestamp: RequestTimestamp | undefined;
}

/** Hears how far the file has come, whatever happens to it afterwards. */
export interface Progress {
  onClaim(claim: Claim): void;
  onRecord(record: SignatureRecord): void;
  /** A whole sentence for people. */
  warn(sentence: string): void;
}

export async function signFile(
  plan: PlannedFile,
  signing: Signing,
  remote: Remote,
  progress: Progress,
): Promise<SignedFile> {
  await using input = await openJudged(plan, signing);
  await using copy = await stageCopy({ ...signing, ...plan, source: input.source, original: input });

  let claim: Claim | undefined;
  const onClaim = (mine: Claim): void => {
    claim = mine;
    progress.onClaim(mine);
  };
  const parts = { input, copy };
  const { given, stamped, expected, there } = await signCopy(plan, signing, remote, { ...progress, onClaim }, parts);
  const committed =
    there === undefined
      ? await commit({ plan, input, copy, check: (result) => result.verifyResult(expected) })
      : { bytes: input.source.size, warnings: [ALREADY_THERE] };
  // A report that is sent twice costs nothing; one that is never sent does.
  let after: AfterFile = { reportDue: true, reported: undefined, isUsed: true, hasFailed: false };
  await noted(async () => {
    after = (await claim?.written(plan.target)) ?? after;
  }, progress.warn);
  return { ...given, after, stamped, ...committed };
}

const ALREADY_THERE =
  'It carries this very signature already, and is left as it is: a run that was ended had written it.';

/** Of a file that is left as it is. */
function fromThere({ timestamp }: AlreadyThere): SignedFile['stamped'] {
  return timestamp?.time && { time: timestamp.time, authority: null };
}

/** Prepare, rehearse, sign, timestamp, seal, embed. Apart from `signFile`, so that nothing prepared is held while the result is checked. */
async function signCopy(
  plan: PlannedFile,
  signing: Signing,
  { requestSignature, requestTimestamp }: Remote,
  progress: Progress,
  { input, copy }: { readonly input: InputFile; readonly copy: StagedCopy },
) {
  const file = await plan.open(input.source, copy.reader);
  const prepared = await file.prepare(contextOf(signing), plan.mode);
  await rehearse(copy, prepared, signing.chain.signatureLength, requestTimestamp?.probableLength());
  const tellStep = (step: FileStep): void => signing.onEvent({ type: 'file-step', path: plan.path, step });
  const askBoth = async () => {
    const work = { ...progress, toBeSigned: prepared.toBeSigned };
    const given = await signRemotely(plan, signing, work, requestSignature, copy);
    progress.onRecord(given.record);
    const there = await findAlreadyThere(plan, file, given, requestTimestamp !== undefined);
    if (there !== undefined) return { given, there, stamped: undefined };
    if (requestTimestamp !== undefined) tellStep('asking-authority');
    return { given, there, stamped: await requestTimestamp?.stamp(given.record.signature) };
  };
  tellStep('asking-service');
  const asked = await (requestTimestamp === undefined ? askBoth() : requestTimestamp.inTurn(askBoth));
  const { given, there } = asked;
  if (there !== undefined) return { given, there, stamped: fromThere(there), expected: undefined };
  const { stamped } = asked;
  tellStep('writing');
  const { patch, sealed, standing } = prepared.embed(prepared.seal(given.record.signature, stamped?.token));
  await copy.apply(patch);
  return { given, there, stamped, expected: { sealed, standing } };
}

/** What a dry run shows: the prepared signature, with nothing written and nobody asked. */
export async function prepareOnly(plan: PlannedFile, signing: Signing): Promise<PreparedSignature> {
  await using input = await openJudged(plan, signing);
  const file = await plan.open(input.source, contentReader(signing.digestEntries));
  return await file.prepare(contextOf(signing), plan.mode);
}

/**
 * Puts a signature of zeros, as long as the real one, and a timestamp about as long, into the copy, and gives it owner and
 * mode. Whatever that may run into, a full disk above all, is met before a signature is spent; the real one then
 * overwrites the same bytes.
 */
async function rehearse(
  copy: StagedCopy,
  prepared: PreparedSignature,
  signatureLength: number,
  tokenLength: number | undefined,
): Promise<void> {
  const token = tokenLength === undefined ? undefined : new Uint8Array(tokenLength);
  const { patch } = prepared.embed(prepared.seal(new Uint8Array(signatureLength), token));
  await copy.apply(patch);
  await copy.takeOwnerAndMode();
}

/**
 * The disk flushes the copy while the service signs. A signature is waited for even when flushing fails: the copy
 * remembers, and refuses to be committed.
 */
async function signRemotely(
  plan: PlannedFile,
  signing: Signing,
  work: Pick<SignatureWork, 'toBeSigned' | 'onClaim' | 'warn'>,
  requestSignature: RequestSignature,
  copy: StagedCopy,
): Promise<GivenSignature> {
  const extra = describeRequest(signing.client, plan.path, Number(plan.stats.size), signing.now());
  const flushing = copy.flush().catch(() => undefined);
  // It may be minutes until the call's turn comes.
  const beforeRequest = () => assertUnchanged(plan.path, plan.stats);
  try {
    const { path, output } = plan;
    return await requestSignature({ ...work, path, output, bytes: Number(plan.stats.size), extra, beforeRequest });
  } finally {
    await flushing;
  }
}
