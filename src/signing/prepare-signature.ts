import { createHash } from 'node:crypto';
import { patchedSource } from '../bytes/patched-source.ts';
import { signingOf } from '../format/format.ts';
import type {
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
import { changeContents, contextFor } from './files/contained.ts';
import { type InnerFile, innerName, NOTHING_INSIDE } from './files/inner-files.ts';
import type { OpenFile } from './files/open-file.ts';
import type { PlannedFile } from './planned-file.ts';
import { modeAndContext } from './signing-policy.ts';
import type { EarlierTime, SigningRun } from './signing-run.ts';

export type PreparedFile = Awaited<ReturnType<typeof prepareSignature>>;

/** In some formats, the signatures of the units also cover the signing time. */
export interface TimedUnits extends Pick<Prepared, 'units'> {
  readonly time: Date;
}

type SealInner = (file: InnerFile, units: TimedUnits) => Promise<Envelopes>;

/**
 * Computes the digest of the content while the copy is written, then rehearses: writes zeros in place of the signature,
 * and sets the owner and mode. Failures such as a full disk therefore occur before a signature is requested. The
 * rehearsal uses incompressible bytes for inner files, because a container may compress its files.
 */
export async function prepareSignature(plan: PlannedFile, file: OpenFile, run: SigningRun) {
  const { input, copy } = file;
  const { format, contained = NOTHING_INSIDE, isContainerOnly = false } = plan;
  const original = file.opened ?? (await openOriginal(plan, file));
  const given = { ...run.context, time: plan.time };
  const own = isContainerOnly ? undefined : modeAndContext(signingOf(original, format), format, given, run.policy);
  const { signatureLength } = given.chain;
  const tokenLength = run.timestamps.probableLength();
  const earlier = await run.findEarlierTimes(plan);

  async function prepareWith(opened: SignableFile, sealInner: SealInner) {
    const { toChange } = contained;
    const inner =
      toChange.length > 0 ? await prepareInner(opened, toChange, given, earlier, sealInner, run) : undefined;
    const changed = inner && patchedSource(input.source, inner.patch);
    let prepared: Prepared | undefined;
    let { time } = plan;
    if (own !== undefined) {
      const whole = changed ? await format.open(changed, contentReader(run.digestEntries), plan.output) : opened;
      ({ prepared, time } = await prepareWithTime(signingOf(whole, format), own.mode, own.context, earlier));
    }
    const embed = async (sealed: Envelopes | undefined): Promise<Expected | undefined> => {
      const embedding = sealed && prepared?.embed(sealed);
      const patch = embedding?.patch;
      await copy.apply(patch === undefined ? (inner?.patch ?? []) : (changed?.compose(patch) ?? patch));
      return embedding;
    };
    await embed(prepared && sealAll(prepared, zeros(signatureLength), tokenLength && zeros(tokenLength)));
    // The copy remembers a failed flush, and cannot be committed.
    return { opened, inner, prepared, time, embed, flushing: copy.flush().catch(() => undefined) };
  }

  const fillerLength = signatureLength + (tokenLength ?? 0);
  const filler = createHash('shake256', { outputLength: fillerLength }).digest();
  const fillerToken = tokenLength && filler.subarray(signatureLength);
  // No closure may refer to `original`, because it would then stay in memory.
  let held: Awaited<ReturnType<typeof prepareWith>> | undefined = await prepareWith(original, async (_, units) =>
    sealAll(units, filler.subarray(0, signatureLength), fillerToken),
  );
  let { flushing } = held;
  const stillHeld = () => {
    if (held === undefined) throw new TypeError('a signature is sealed once');
    return held;
  };
  return {
    /** Prepares and rehearses again with the signatures of the inner files. */
    async changeInner(sealInner: SealInner): Promise<ReadonlyMap<string, Expected>> {
      if (contained.toChange.length === 0) return new Map();
      await flushing;
      held = await prepareWith(stillHeld().opened, sealInner);
      flushing = held.flushing;
      return held.inner?.expected ?? new Map();
    },

    /** Returns undefined if the file gets no signature of its own. */
    get timedUnits(): TimedUnits | undefined {
      const { prepared, time } = stillHeld();
      return prepared && { units: prepared.units, time };
    },

    /** May be called only once, because it releases the prepared data. */
    async embed(sealed: Envelopes | undefined): Promise<Expected | undefined> {
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

/** Returns the edits that sign the files inside the file, and what each of them must then contain. */
async function prepareInner(
  opened: SignableFile,
  files: readonly InnerFile[],
  given: SigningContext,
  earlier: readonly EarlierTime[],
  sealInner: SealInner,
  run: Pick<SigningRun, 'digestEntries'>,
) {
  const expected = new Map<string, Expected>();
  const sign = async (file: InnerFile, signing: Signing) => {
    const [mode = 'replace'] = file.format.signing?.modes ?? [];
    const { prepared, time } = await prepareWithTime(signing, mode, contextFor(signing, given), earlier);
    const { patch, ...its } = prepared.embed(await sealInner(file, { units: prepared.units, time }));
    expected.set(innerName(file), its);
    return { patch, ...its };
  };
  return { patch: await changeContents(opened, files, sign, run), expected };
}

const zeros = (length: number) => new Uint8Array(length);

/** With the signing time of an earlier run, the digest is the same, and the journal may have its signature. */
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

function sealAll(
  { units: [first, ...others] }: Pick<Prepared, 'units'>,
  value: Uint8Array,
  token: Uint8Array | undefined | 0,
): Envelopes {
  const seal = (unit: SigningUnit) => unit.seal(value, unit.timestamp === 'none' ? undefined : token || undefined);
  return [seal(first), ...others.map(seal)];
}
