/** THE MAIN FLOW: the walk of one file from its bytes to its signed bytes, as named steps. */

import type { PreparedSignature, SignableFile } from '../formats/format.ts';
import type { SignatureRecord } from '../service/signing-service.ts';
import { commit } from './commit.ts';
import { describeRequest } from './extra.ts';
import { assertUnchanged, type InputFile, openInput } from './input-file.ts';
import type { PlannedFile } from './plan.ts';
import type { RequestSignature } from './remote-signature.ts';
import type { Signing } from './signing.ts';
import { type StagedCopy, stageCopy } from './staged-copy.ts';

export interface SignedFile {
  readonly record: SignatureRecord;
  /** Size of the signed file in bytes. */
  readonly bytes: number;
}

/** Hears of the record the moment there is one, whatever happens to the file afterwards. */
export type OnRecord = (record: SignatureRecord) => void;

export async function signFile(
  plan: PlannedFile,
  signing: Signing,
  requestSignature: RequestSignature,
  onRecord: OnRecord,
): Promise<SignedFile> {
  await using input = await openPlanned(plan);
  await using copy = await stageCopy({ ...signing, source: input.source, stats: plan.stats, target: plan.target });

  const file = await plan.format.open(input.source, { measure: copy.measure });
  const prepared = await file.prepare(signing, plan.mode);
  await rehearse(copy, prepared, signing.chain.signatureLength);
  const record = await signRemotely(plan, signing, prepared, requestSignature, copy);
  onRecord(record);
  const sealed = prepared.seal(record.signature);
  const bytes = await commit({ plan, input, copy, patch: prepared.embed(sealed), sealed });
  return { record, bytes };
}

/** What a dry run shows: the prepared signature, with nothing written and nobody asked. */
export async function prepareOnly(
  plan: PlannedFile,
  signing: Signing,
  measure: StagedCopy['measure'],
): Promise<PreparedSignature> {
  await using input = await openPlanned(plan);
  const file: SignableFile = await plan.format.open(input.source, { measure });
  return file.prepare(signing, plan.mode);
}

async function openPlanned(plan: PlannedFile): Promise<InputFile> {
  await assertUnchanged(plan.path, plan.stats);
  return openInput(plan.path);
}

/**
 * Puts a signature of zeros, as long as the real one, into the copy. Whatever embedding may run into, a full disk
 * above all, is met before a signature is spent; the real one then overwrites the same bytes.
 */
async function rehearse(copy: StagedCopy, prepared: PreparedSignature, signatureLength: number): Promise<void> {
  await copy.apply(prepared.embed(prepared.seal(new Uint8Array(signatureLength))));
}

/**
 * The disk flushes the copy while the service signs. A signature is waited for even when flushing fails: the copy
 * remembers, and refuses to be committed.
 */
async function signRemotely(
  plan: PlannedFile,
  signing: Signing,
  prepared: PreparedSignature,
  requestSignature: RequestSignature,
  copy: StagedCopy,
): Promise<SignatureRecord> {
  const extra = describeRequest(signing.client, plan.path, Number(plan.stats.size), signing.now());
  const flushing = copy.flush().catch(() => undefined);
  try {
    return await requestSignature({ toBeSigned: prepared.toBeSigned, extra });
  } finally {
    await flushing;
  }
}
