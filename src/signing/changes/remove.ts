import { CodesignError } from '../../errors/codesign-error.ts';
import { plural } from '../../errors/plural.ts';
import { formatErrors } from '../../format/errors.ts';
import type { SignableFile } from '../../format/signable-file.ts';
import { flatten } from '../../format/signature.ts';
import { changeEach, finish } from '../change-each.ts';
import { signerNames } from '../existing-signatures.ts';
import { commit, reopenCopy, writtenOutcome } from '../files/commit.ts';
import { type OpenFile, openFile } from '../files/open-file.ts';
import type { ChangeFilesResult, FileToSign, RemovedOutcome } from '../outcome.ts';
import { planFiles } from '../plan-files.ts';
import { type Intent, type PlannedFile, WITHOUT_SIGNATURE } from '../planned-file.ts';
import { type Run, type StartedRun, startRun } from '../run.ts';

/** Each file has its outcome, in the order given; what one file does is never thrown. */
export async function removeSignatures(
  files: readonly FileToSign[],
  given: Run,
  signal?: AbortSignal,
): Promise<ChangeFilesResult> {
  using run = startRun(given, signal);
  const planned = await planFiles(files, run, decide);
  const outcomes = await changeEach(planned, run, async (plan) => finish(await removeFrom(plan, run), run));
  return { files: outcomes, warnings: run.listenerWarnings };
}

async function decide(opened: SignableFile): Promise<Intent> {
  const isSigned = (await opened.signatures()).length > 0 || (await holdsRemains(opened));
  return { ...WITHOUT_SIGNATURE, skipped: isSigned ? undefined : 'not-signed' };
}

async function removeFrom(plan: PlannedFile, run: StartedRun): Promise<RemovedOutcome> {
  await using file = await openFile(plan, run);
  const { patch, remaining, ...removed } = await prepare(await plan.open(file.input.source, file.copy.reader));
  await file.copy.apply(patch);
  const written = await commit(plan, file, check(plan, file, remaining), run);
  return { ...writtenOutcome(plan, written), status: 'removed', ...removed };
}

async function prepare(opened: SignableFile) {
  const signatures = await opened.signatures();
  const removed = (await opened.removable?.()) ?? signatures;
  return {
    patch: await opened.remove(),
    remaining: signatures.length - removed.length,
    signatures: flatten(removed).length,
    removed: signerNames(removed),
  };
}

/** Whether there is something to take out although there is no signature: a table of other entries, say. */
async function holdsRemains(opened: SignableFile): Promise<boolean> {
  try {
    await opened.remove();
    return true;
  } catch (thrown) {
    if (thrown instanceof CodesignError && thrown.code === 'not-signed') return false;
    throw thrown;
  }
}

async function check(plan: PlannedFile, file: OpenFile, expected: number): Promise<void> {
  const result = await reopenCopy(plan, file);
  const remaining = (await result.signatures()).length;
  if (remaining !== expected)
    throw formatErrors('result-damaged', { reason: `it still holds ${plural(remaining, 'signature')}` });
}
