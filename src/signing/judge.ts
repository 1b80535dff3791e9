/** The pre-flight of a whole run: every file judged before the first request. */

import pLimit from 'p-limit';
import { type CodesignError, toCodesignError } from '../errors/codesign-error.ts';
import type { Batch } from './batch.ts';
import { signingErrors } from './errors.ts';
import type { FileToSign } from './outcome.ts';
import { type PlannedFile, planFile } from './plan.ts';
import type { Signing } from './signing.ts';

/** A file on its way: fit and planned, or unfit and why. */
export type Judgement =
  | { readonly file: FileToSign; readonly plan: PlannedFile }
  | { readonly file: FileToSign; readonly error: CodesignError };

/** In the order given, without what was merely found in a folder and is of no format. With --all-or-nothing one unfit file stops the batch. */
export async function judgeFiles(files: readonly FileToSign[], signing: Signing, batch: Batch): Promise<Judgement[]> {
  const limit = pLimit(signing.concurrency);
  const judged = await Promise.all(files.map((file) => limit(() => judge(file, signing, batch))));
  const judgements = refuseSharedTargets(judged.filter(isMeant));
  if (signing.allOrNothing && judgements.some((judgement) => 'error' in judgement)) {
    batch.stop('another file of this run cannot be signed, and --all-or-nothing was asked for');
  }
  return judgements;
}

async function judge(file: FileToSign, signing: Signing, batch: Batch): Promise<Judgement> {
  try {
    batch.assertGoing();
    return { file, plan: await planFile(file, signing) };
  } catch (thrown) {
    return { file, error: toCodesignError(thrown) };
  }
}

/** Whoever names a folder means the files in it that can be signed. */
function isMeant(judgement: Judgement): boolean {
  const foundInFolder = judgement.file.placeInFolder !== undefined;
  return !(foundInFolder && 'error' in judgement && judgement.error.code === 'unsupported-format');
}

/** Of two results for one place neither may be written: which of them came last would be chance. */
function refuseSharedTargets(judgements: readonly Judgement[]): Judgement[] {
  const counts = new Map<string, number>();
  for (const judgement of judgements) {
    if ('plan' in judgement) counts.set(judgement.plan.target, (counts.get(judgement.plan.target) ?? 0) + 1);
  }
  return judgements.map((judgement) => {
    if ('error' in judgement || counts.get(judgement.plan.target) === 1) return judgement;
    const { file } = judgement;
    return { file, error: signingErrors('output-conflict', { target: file.output }) };
  });
}
