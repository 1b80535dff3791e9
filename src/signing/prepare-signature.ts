/** Steps 2 and 7 of the main flow: what is to be signed, and the edits that put the signature into the copy. */

import type {
  Embedding,
  ExpectedEnvelope,
  InnerFile,
  PreparedSignature,
  SignableFile,
  SigningContext,
  SigningMode,
} from '../format/signable-file.ts';
import { contentReader } from '../formats/recognise.ts';
import type { OpenFile } from './files/open-file.ts';
import type { StagedCopy } from './files/staged-copy.ts';
import type { PlannedFile } from './planned-file.ts';
import { digestToBeSigned } from './service/key-match.ts';
import type { EarlierTime } from './signing-context.ts';
import { modeAndContext } from './signing-policy.ts';
import type { SigningRun } from './signing-run.ts';

export type PreparedFile = Awaited<ReturnType<typeof prepareSignature>>;

/**
 * Digests the content while the copy is written, and rehearses: a signature of zeros, as long as the real one, and a
 * timestamp about as long go into the copy, which gets its owner and mode. Whatever that may fail of, above all a full disk,
 * shows before a signature is spent; the real one then overwrites the same bytes. Files in it that are signed first get zeros
 * too.
 */
export async function prepareSignature(plan: PlannedFile, { input, copy }: OpenFile, run: SigningRun) {
  // The original is copied while it is digested only if that is what will be signed.
  const reader = plan.signatures > 1 ? contentReader(run.digestEntries) : copy.reader;
  const opened = await plan.format.open(input.source, reader, plan.output);
  const { mode, context } = modeAndContext(opened, plan.format, { ...run.context, time: plan.time }, run.policy);
  const { files: inner, kept } = (await opened.inner?.(context)) ?? { files: [], kept: [] };
  const zeros = new Uint8Array(context.chain.signatureLength);
  const tokenLength = run.timestamps.probableLength();
  const token = tokenLength === undefined ? undefined : new Uint8Array(tokenLength);
  const earlier = await run.findEarlierTimes(plan);

  async function prepareOver(file: SignableFile, embeddings: ReadonlyMap<string, Embedding>) {
    const prepared = await prepareWithTime(file, mode, context, earlier, embeddings);
    await embed(copy, prepared.prepared, zeros, token);
    // A failure is not lost: the copy remembers it, and cannot be committed.
    return { file, ...prepared, flushing: copy.flush().catch(() => undefined) };
  }

  const rehearsed = new Map<string, Embedding>();
  for (const file of inner) {
    const { prepared } = await prepareInner(file, context, run);
    rehearsed.set(file.name, prepared.embed(prepared.seal(zeros, token)));
  }
  // No closure may name `opened`, which would then outlive it.
  let held: Awaited<ReturnType<typeof prepareOver>> | undefined = await prepareOver(opened, rehearsed);
  let { flushing } = held;
  const { time } = held;
  const stillHeld = () => {
    if (held === undefined) throw new TypeError('a signature is sealed once');
    return held;
  };
  return {
    /** Signed by formats that sign one. */
    time,
    algorithm: context.algorithm,
    context,
    /** The files in it that are to be signed first. */
    inner,
    /** Those that are signed. */
    kept,

    /** Prepares again, over the signatures of these files, and rehearses again. */
    async putInner(embeddings: ReadonlyMap<string, Embedding>): Promise<void> {
      await flushing;
      held = await prepareOver(stillHeld().file, embeddings);
      flushing = held.flushing;
    },

    /** Empty once it is sealed. */
    get toBeSigned(): Uint8Array {
      return held?.prepared.toBeSigned ?? new Uint8Array();
    },

    /** Puts the envelope into the copy, and returns what the result must hold. Only once: what was prepared is let go, and not held while the result is checked. */
    async seal(signature: Uint8Array, timestampToken: Uint8Array | undefined): Promise<ExpectedEnvelope> {
      await flushing;
      run.onEvent({ type: 'file-step', path: plan.path, step: 'writing' });
      const sealing = embed(copy, stillHeld().prepared, signature, timestampToken);
      held = undefined;
      return await sealing;
    },

    /** The flush of the copy runs while the service signs. */
    async [Symbol.asyncDispose](): Promise<void> {
      await flushing;
    },
  };
}

/** With the time of an earlier run, if it did the same work: its signature is used, or its request not sent unnoticed again. */
async function prepareWithTime(
  opened: SignableFile,
  mode: SigningMode,
  context: SigningContext,
  earlier: readonly EarlierTime[],
  inner: ReadonlyMap<string, Embedding>,
): Promise<{ readonly prepared: PreparedSignature; readonly time: Date }> {
  for (const { time, digest } of earlier) {
    const prepared = await opened.prepare({ ...context, time }, mode, inner);
    if (digestToBeSigned({ ...prepared, algorithm: context.algorithm }).toString('hex') === digest)
      return { prepared, time };
  }
  return { prepared: await opened.prepare(context, mode, inner), time: context.time };
}

/** Gives what the result must hold, without the edits. */
async function embed(
  copy: StagedCopy,
  prepared: PreparedSignature,
  signature: Uint8Array,
  token: Uint8Array | undefined,
) {
  const { patch, ...expected } = prepared.embed(prepared.seal(signature, token));
  await copy.apply(patch);
  return expected;
}

/** A file in the file: what is to be signed of it. */
export async function prepareInner(
  inner: InnerFile,
  context: SigningContext,
  { digestEntries }: Pick<SigningRun, 'digestEntries'>,
) {
  const algorithm = inner.fixedAlgorithm?.algorithm ?? context.algorithm;
  const file = await inner.open(contentReader(digestEntries));
  return { prepared: await file.prepare({ ...context, algorithm }, 'replace'), algorithm, time: context.time };
}
