/** Putting the changed bytes in place: flushed, reopened and checked first, then renamed whole. */

import type { InputFile } from '../../files/input-file.ts';
import type { PlannedFile, PreparedChange } from '../change.ts';
import type { StagedCopy } from './staged-copy.ts';
import { assertUnchanged, lookAgain } from './unchanged.ts';

interface Commit {
  readonly plan: PlannedFile;
  readonly input: InputFile;
  /** As it shall be. */
  readonly copy: StagedCopy;
  /** Throws when the reopened copy is not what it was to become. */
  readonly check: PreparedChange['check'];
}

/** The original stays untouched until the rename. Gives the size of the new file, and warnings. */
export async function commit({ plan, input, copy, check }: Commit) {
  await copy.flush();
  const { source, reader } = copy.reopen();
  try {
    await check(await plan.format.open(source, reader, plan.output));
  } catch (thrown) {
    // A copy of an original that changed meanwhile fails the check: then report the change.
    await lookAgain(plan);
    throw thrown;
  }
  // Windows does not rename onto a file that is open.
  await input.close();
  const isNew = plan.targetVersion === undefined;
  const warnings = await copy.replaceTarget({ isNew, assertUnchanged: () => assertUnchanged(plan) });
  return { bytes: source.size, warnings };
}
