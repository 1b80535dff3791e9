/** The walk of one file that is changed without the service, from its bytes to its new bytes. */

import { dirname } from 'node:path';
import { type CodesignError, toCodesignError } from '../errors/codesign-error.ts';
import { fromFileSystem } from '../files/file-system-errors.ts';
import type { Batch } from './batch.ts';
import type { Changing, PreparedChange } from './change.ts';
import type { ChangeOutcome, Done } from './change-outcome.ts';
import type { PlannedChange } from './change-plan.ts';
import { type Committed, commit } from './files/commit.ts';
import { openJudged } from './files/open-file.ts';
import { assertUnchanged } from './files/same-file.ts';
import { stageCopy } from './files/staged-copy.ts';
import type { Judgement } from './plan-files.ts';

/** Gives the file's outcome, told as it happens; never throws for what the file does. */
export async function runChange(
  judgement: Judgement<PlannedChange>,
  changing: Changing,
  batch: Batch,
): Promise<ChangeOutcome> {
  const outcome = await outcomeOf(judgement, changing, batch);
  changing.onEvent({ type: 'file-finished', outcome });
  return outcome;
}

async function outcomeOf(
  judgement: Judgement<PlannedChange>,
  changing: Changing,
  batch: Batch,
): Promise<ChangeOutcome> {
  if ('error' in judgement) {
    const { file, format, error } = judgement;
    return { path: file.path, format, warnings: [], status: 'failed', error };
  }
  const { plan } = judgement;
  const { path, output, warnings, skipped } = plan;
  const described = { path, format: plan.format.id, warnings };
  if (skipped !== undefined) {
    // No copy is staged, which would look for them.
    await changing.removeLeft?.(dirname(plan.target));
    return { ...described, output, status: 'skipped', reason: skipped };
  }

  const started = changing.clock();
  try {
    batch.assertGoing();
    changing.onEvent({ type: 'file-started', path });
    const { done, committed } = await changeFile(plan, changing, batch);
    return {
      ...described,
      ...done,
      output,
      warnings: [...warnings, ...committed.warnings],
      bytes: committed.bytes,
      milliseconds: Math.round(changing.clock() - started),
    };
  } catch (thrown) {
    return { ...described, status: 'failed', error: asError(thrown) };
  }
}

function asError(thrown: unknown): CodesignError {
  return toCodesignError(fromFileSystem(thrown, 'read or write the file'));
}

/** Prepare, copy, edit, commit: the original stays untouched until the rename. */
async function changeFile(
  plan: PlannedChange,
  changing: Changing,
  batch: Batch,
): Promise<{ readonly done: Done; readonly committed: Committed }> {
  await using input = await openJudged(plan, changing);
  await using copy = await stageCopy({ ...changing, ...plan, source: input.source, original: input });
  // Another run may have ended, and given its lock back, since the file was opened.
  await assertUnchanged(plan.path, plan.stats);

  const prepare = async (): Promise<PreparedChange> =>
    changing.change.prepare(await plan.open(input.source, copy.reader), batch);
  const { patch, check, done } = await prepare();
  await copy.apply(patch);
  await copy.takeOwnerAndMode();
  const committed = await commit({ plan, input, copy, check });
  return { done, committed };
}
