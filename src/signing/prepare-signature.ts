/** Steps 2 and 7 of the main flow: computes the data to be signed, and embeds the signature in the copy. */

import { signingOf } from '../format/format.ts';
import type {
  Embedding,
  Envelopes,
  Expected,
  InnerFile,
  Prepared,
  Signing,
  SigningContext,
  SigningMode,
  SigningUnit,
} from '../format/signable-file.ts';
import type { Envelope } from '../format/signature.ts';
import { contentReader } from '../formats/recognise.ts';
import type { OpenFile } from './files/open-file.ts';
import type { StagedCopy } from './files/staged-copy.ts';
import type { PlannedFile } from './planned-file.ts';
import type { EarlierTime } from './signing-context.ts';
import { modeAndContext } from './signing-policy.ts';
import type { SigningRun } from './signing-run.ts';

export type PreparedFile = Awaited<ReturnType<typeof prepareSignature>>;

/**
 * Digests the content while the copy is written, then rehearses the embedding. The rehearsal writes a signature of
 * zeros with the expected lengths to the copy, and sets owner and mode. Failures such as a full disk therefore occur
 * before a signature is spent. The real signature later overwrites the zeros. Inner files that are signed first get
 * zeros too.
 */
export async function prepareSignature(plan: PlannedFile, file: OpenFile, run: SigningRun) {
  const { input, copy } = file;
  // The original can be copied while it is digested only if its content is signed as it is.
  const reader = plan.signatures > 1 ? contentReader(run.digestEntries) : copy.reader;
  const opened = signingOf(file.opened ?? (await plan.format.open(input.source, reader, plan.output)), plan.format);
  const { mode, context } = modeAndContext(opened, plan.format, { ...run.context, time: plan.time }, run.policy);
  const { files: inner, kept } = (await opened.inner?.(context)) ?? { files: [], kept: [] };
  const zeros = new Uint8Array(context.chain.signatureLength);
  const tokenLength = run.timestamps.probableLength();
  const token = tokenLength === undefined ? undefined : new Uint8Array(tokenLength);
  const earlier = await run.findEarlierTimes(plan);

  async function prepareOver(file: Signing, embeddings: ReadonlyMap<string, Embedding>) {
    const prepared = await prepareWithTime(file, mode, context, earlier, embeddings);
    await embed(copy, prepared.prepared, sealAll(prepared.prepared, zeros, token));
    // A failed flush is not lost: the copy remembers it and cannot be committed.
    return { file, ...prepared, flushing: copy.flush().catch(() => undefined) };
  }

  const rehearsed = new Map<string, Embedding>();
  for (const file of inner) {
    const { prepared } = await prepareInner(file, context, run);
    rehearsed.set(file.name, prepared.embed(sealAll(prepared, zeros, token)));
  }
  // No closure may refer to `opened`, because the closure would keep it in memory.
  let held: Awaited<ReturnType<typeof prepareOver>> | undefined = await prepareOver(opened, rehearsed);
  let { flushing } = held;
  const { time } = held;
  const stillHeld = () => {
    if (held === undefined) throw new TypeError('a signature is sealed once');
    return held;
  };
  return {
    time,
    algorithm: context.algorithm,
    context,
    inner,
    kept,

    /** Prepares and rehearses again with the signatures of these inner files. */
    async putInner(embeddings: ReadonlyMap<string, Embedding>): Promise<void> {
      await flushing;
      held = await prepareOver(stillHeld().file, embeddings);
      flushing = held.flushing;
    },

    /** Empty once they are embedded. */
    get units(): readonly SigningUnit[] {
      return held?.prepared.units ?? [];
    },

    /** Can be called only once, because the prepared data is released before the result is checked. */
    async embed(sealed: readonly Envelope[]): Promise<Expected> {
      await flushing;
      run.onEvent({ type: 'file-step', path: plan.path, step: 'writing' });
      const [first, ...others] = sealed;
      if (first === undefined) throw new TypeError('a file has at least one unit');
      const embedding = embed(copy, stillHeld().prepared, [first, ...others]);
      held = undefined;
      return await embedding;
    },

    async [Symbol.asyncDispose](): Promise<void> {
      await flushing;
    },
  };
}

/** Uses the time of an earlier run with the same work, so that its signature or open request is found. */
async function prepareWithTime(
  opened: Signing,
  mode: SigningMode,
  context: SigningContext,
  earlier: readonly EarlierTime[],
  inner: ReadonlyMap<string, Embedding>,
): Promise<{ readonly prepared: Prepared; readonly time: Date }> {
  for (const { time, digest } of earlier) {
    const prepared = await opened.prepare({ ...context, time }, mode, inner);
    if (prepared.units.some((unit) => Buffer.from(unit.digest).toString('hex') === digest)) return { prepared, time };
  }
  return { prepared: await opened.prepare(context, mode, inner), time: context.time };
}

async function embed(copy: StagedCopy, prepared: Prepared, sealed: Envelopes): Promise<Expected> {
  const { patch, ...expected } = prepared.embed(sealed);
  await copy.apply(patch);
  return expected;
}

function sealAll({ units: [first, ...others] }: Prepared, value: Uint8Array, token: Uint8Array | undefined): Envelopes {
  const seal = (unit: SigningUnit) => unit.seal(value, unit.timestamp === 'none' ? undefined : token);
  return [seal(first), ...others.map(seal)];
}

export async function prepareInner(
  inner: InnerFile,
  context: SigningContext,
  { digestEntries }: Pick<SigningRun, 'digestEntries'>,
) {
  const algorithm = inner.fixedAlgorithm?.algorithm ?? context.algorithm;
  const signing = signingOf(await inner.open(contentReader(digestEntries)), { title: inner.name });
  return { prepared: await signing.prepare({ ...context, algorithm }, 'replace'), algorithm, time: context.time };
}
