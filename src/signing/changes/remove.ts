import { CodesignError } from '../../errors/codesign-error.ts';
import { plural } from '../../errors/plural.ts';
import { formatErrors } from '../../format/errors.ts';
import { type Format, requireCapability } from '../../format/format.ts';
import type { Removing, SignableFile } from '../../format/signable-file.ts';
import { withNested } from '../../format/signature.ts';
import { changeEach } from '../change-each.ts';
import { signerNames } from '../existing-signatures.ts';
import { commit, openOriginal, reopenCopy, writtenOutcome } from '../files/commit.ts';
import { type OpenFile, openFile } from '../files/open-file.ts';
import type { ChangeFilesResult, FileToSign, RemovedOutcome } from '../outcome.ts';
import { planFiles } from '../plan-files.ts';
import { type Intent, type PlannedFile, type RecognisedFile, WITHOUT_SIGNATURE } from '../planned-file.ts';
import { type Run, type StartedRun, startRun } from '../run.ts';

export async function removeSignatures(
  files: readonly FileToSign[],
  given: Run,
  signal?: AbortSignal,
): Promise<ChangeFilesResult> {
  using run = startRun(given, signal);
  const planned = await planFiles(files, run, decide);
  const outcomes = await changeEach(planned, run, (plan) => removeFrom(plan, run));
  return { files: outcomes, warnings: run.listenerWarnings };
}

async function decide(opened: SignableFile, { format }: RecognisedFile): Promise<Intent> {
  const isSigned = (await opened.signatures()).length > 0 || (await holdsRemains(removingOf(opened, format)));
  return { ...WITHOUT_SIGNATURE, skipped: isSigned ? undefined : 'not-signed' };
}

async function removeFrom(plan: PlannedFile, run: StartedRun): Promise<RemovedOutcome> {
  await using file = await openFile(plan, run);
  const { patch, remaining, ...removed } = await prepare(await openOriginal(plan, file), plan.format);
  await file.copy.apply(patch);
  const written = await commit(plan, file, check(plan, file, remaining), run);
  return { ...writtenOutcome(plan, written), status: 'removed', ...removed };
}

async function prepare(opened: SignableFile, format: Format) {
  const removing = removingOf(opened, format);
  const signatures = await opened.signatures();
  const removed = await removing.signatures();
  return {
    patch: await removing.patch(),
    remaining: signatures.length - removed.length,
    signatures: withNested(removed).length,
    removed: signerNames(removed),
  };
}

const removingOf = ({ removing }: SignableFile, format: Format) =>
  requireCapability(removing, 'changed back to unsigned ones', format);

/** True if `remove` would delete something else, such as an attribute table with other entries. */
async function holdsRemains(removing: Removing): Promise<boolean> {
  try {
    await removing.patch();
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
    throw formatErrors('result-damaged', { reason: `it still contains ${plural(remaining, 'signature')}` });
}
