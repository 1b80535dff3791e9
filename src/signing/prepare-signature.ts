/** Steps 2 and 7 of the main flow: what is to be signed, and the edits that put the signature into the copy. */

import type { PreparedSignature, SignableFile } from '../formats/format.ts';
import { contentReader } from '../formats/recognise.ts';
import type { PlannedFile, PreparedChange, Run } from './change.ts';
import { type OpenFile, openPlanned } from './files/open-file.ts';
import type { StagedCopy } from './files/staged-copy.ts';
import type { SigningEvent } from './outcome.ts';
import { digestToBeSigned } from './service/signatures.ts';
import type { EarlierTime, FindEarlierTimes, RunContext } from './signing-context.ts';
import type { SigningIntent } from './signing-policy.ts';

interface Preparing {
  readonly run: { readonly onEvent: (event: SigningEvent) => void };
  readonly context: RunContext;
  readonly findEarlierTimes: FindEarlierTimes;
}

/**
 * Digests the content while the copy is written, and rehearses: a signature of zeros, as long as the real one, and a
 * timestamp about as long go into the copy, which gets its owner and mode. Whatever that may fail of, above all a full disk,
 * shows before a signature is spent; the real one then overwrites the same bytes.
 */
export async function prepareSignature(
  plan: PlannedFile<SigningIntent>,
  { input, copy }: OpenFile,
  { run, context, findEarlierTimes }: Preparing,
  tokenLength: number | undefined,
) {
  const opened = await plan.open(input.source, copy.reader);
  const { algorithm } = plan.intent;
  const { prepared, time } = await prepareWithTime(
    opened,
    plan,
    { ...context, algorithm },
    await findEarlierTimes(plan),
  );
  const token = tokenLength === undefined ? undefined : new Uint8Array(tokenLength);
  await embed(copy, prepared, new Uint8Array(context.chain.signatureLength), token);
  await copy.takeOwnerAndMode();
  // A failure is not lost: the copy remembers it, and cannot be committed.
  const flushing = copy.flush().catch(() => undefined);
  let held: PreparedSignature | undefined = prepared;
  return {
    /** Signed by formats that sign one. */
    time,
    algorithm,
    /** Empty once it is sealed. */
    get toBeSigned(): Uint8Array {
      return held?.toBeSigned ?? new Uint8Array();
    },

    /** Puts the envelope into the copy. Only once: what was prepared is let go, and not held while the result is checked. */
    async seal(signature: Uint8Array, timestampToken: Uint8Array | undefined): Promise<Pick<PreparedChange, 'check'>> {
      await flushing;
      run.onEvent({ type: 'file-step', path: plan.path, step: 'writing' });
      if (held === undefined) throw new TypeError('a signature is sealed once');
      const sealing = embed(copy, held, signature, timestampToken);
      held = undefined;
      const expected = await sealing;
      return { check: (result) => result.verifyResult(expected) };
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
  { intent }: PlannedFile<SigningIntent>,
  context: RunContext,
  earlier: readonly EarlierTime[],
): Promise<{ readonly prepared: PreparedSignature; readonly time: Date }> {
  for (const { time, digest } of earlier) {
    const prepared = await opened.prepare({ ...context, time }, intent.mode);
    if (digestToBeSigned({ ...prepared, algorithm: context.algorithm }).toString('hex') === digest)
      return { prepared, time };
  }
  const { time } = intent;
  return { prepared: await opened.prepare({ ...context, time }, intent.mode), time };
}

/** Gives what the result must hold, without the edits. */
async function embed(
  copy: StagedCopy,
  prepared: PreparedSignature,
  signature: Uint8Array,
  token: Uint8Array | undefined,
) {
  const { patch, sealed, standing } = prepared.embed(prepared.seal(signature, token));
  await copy.apply(patch);
  return { sealed, standing };
}

/** What a dry run shows: the prepared signature, with nothing written and no request sent. */
export async function prepareOnly(
  plan: PlannedFile<SigningIntent>,
  context: RunContext,
  { digestEntries, onEvent }: Pick<Run<never>, 'digestEntries' | 'onEvent'>,
): Promise<PreparedSignature> {
  await using input = await openPlanned(plan, onEvent);
  const file = await plan.open(input.source, contentReader(digestEntries));
  const { algorithm, time, mode } = plan.intent;
  return await file.prepare({ ...context, algorithm, time }, mode);
}
