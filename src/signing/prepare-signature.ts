/** Steps 2 and 7 of the main flow: computes the data that is signed, and embeds the signature in the copy. */

import type { Patch } from '../bytes/pieces.ts';
import { signingOf } from '../format/format.ts';
import type {
  Embedding,
  Envelopes,
  Expected,
  Prepared,
  SignableFile,
  Signing,
  SigningContext,
  SigningMode,
  SigningUnit,
} from '../format/signable-file.ts';
import { contentReader } from '../formats/recognise.ts';
import { openOriginal } from './files/commit.ts';
import { changeContents, containedFiles, prepareContained } from './files/contained.ts';
import type { OpenFile } from './files/open-file.ts';
import type { PlannedFile } from './planned-file.ts';
import type { EarlierTime } from './signing-context.ts';
import { modeAndContext } from './signing-policy.ts';
import type { SigningRun } from './signing-run.ts';

export type PreparedFile = Awaited<ReturnType<typeof prepareSignature>>;

/**
 * Computes the digest of the content while the copy is written, then rehearses how the signature will be embedded. The
 * rehearsal writes zeros of the expected length to the copy in place of the signature, and sets the owner and mode.
 * Failures such as a full disk therefore occur before a signature is used up. The real signature later takes the place
 * of the zeros. Zeros are also used for the inner files that are signed first.
 */
export async function prepareSignature(plan: PlannedFile, file: OpenFile, run: SigningRun) {
  const { input, copy } = file;
  const { format } = plan;
  const original = file.opened ?? (await openOriginal(plan, file));
  const given = { ...run.context, time: plan.time };
  const { mode, context } = modeAndContext(signingOf(original, format), format, given, run.policy);
  const contained = await containedFiles(original, context, format, run);
  const zeros = new Uint8Array(context.chain.signatureLength);
  const tokenLength = run.timestamps.probableLength();
  const token = tokenLength === undefined ? undefined : new Uint8Array(tokenLength);
  const earlier = await run.findEarlierTimes(plan);

  /** `patches` contains the changes to inner files, by file name. */
  async function prepareWith(opened: SignableFile, patches: ReadonlyMap<string, Patch>) {
    const changed = patches.size === 0 ? undefined : await changeContents(opened, input.source, patches);
    const whole = changed ? await format.open(changed, contentReader(run.digestEntries), plan.output) : opened;
    const prepared = await prepareWithTime(signingOf(whole, format), mode, context, earlier);
    /** Returns the content that the result is expected to have. */
    const embed = async (sealed: Envelopes): Promise<Expected> => {
      const { patch, ...expected } = prepared.prepared.embed(sealed);
      await copy.apply(changed?.compose(patch) ?? patch);
      return expected;
    };
    await embed(sealAll(prepared.prepared, zeros, token));
    // If a flush fails, the copy remembers the failure and cannot be committed.
    return { opened, ...prepared, embed, flushing: copy.flush().catch(() => undefined) };
  }

  const rehearsed = new Map<string, Patch>();
  for (const inner of contained.toSign) {
    const its = await prepareContained(inner, context, format, run);
    rehearsed.set(inner.name, its.embed(sealAll(its, zeros, token)).patch);
  }
  // No closure may refer to `original`, because it would then stay in memory.
  let held: Awaited<ReturnType<typeof prepareWith>> | undefined = await prepareWith(original, rehearsed);
  let { flushing } = held;
  const { time } = held;
  const stillHeld = () => {
    if (held === undefined) throw new TypeError('a signature is sealed once');
    return held;
  };
  return {
    time,
    context,
    contained,

    /** Prepares and rehearses again, now with the signatures of these inner files. */
    async changeContained(embeddings: ReadonlyMap<string, Embedding>): Promise<void> {
      await flushing;
      const patches = new Map(Array.from(embeddings, ([name, { patch }]) => [name, patch]));
      held = await prepareWith(stillHeld().opened, patches);
      flushing = held.flushing;
    },

    get units() {
      return stillHeld().prepared.units;
    },

    /** May be called only once, because the prepared data is released before the result is checked. */
    async embed(sealed: Envelopes): Promise<Expected> {
      await flushing;
      run.onEvent({ type: 'file-step', path: plan.path, step: 'writing' });
      const embedding = stillHeld().embed(sealed);
      held = undefined;
      return await embedding;
    },

    async [Symbol.asyncDispose](): Promise<void> {
      await flushing;
    },
  };
}

/** Uses the signing time of an earlier run with the same work, so that its signature or its open request is found. */
async function prepareWithTime(
  opened: Signing,
  mode: SigningMode,
  context: SigningContext,
  earlier: readonly EarlierTime[],
): Promise<{ readonly prepared: Prepared; readonly time: Date }> {
  for (const { time, digest } of earlier) {
    const prepared = await opened.prepare({ ...context, time }, mode);
    if (prepared.units.some((unit) => Buffer.from(unit.digest).toString('hex') === digest)) return { prepared, time };
  }
  return { prepared: await opened.prepare(context, mode), time: context.time };
}

function sealAll({ units: [first, ...others] }: Prepared, value: Uint8Array, token: Uint8Array | undefined): Envelopes {
  const seal = (unit: SigningUnit) => unit.seal(value, unit.timestamp === 'none' ? undefined : token);
  return [seal(first), ...others.map(seal)];
}
