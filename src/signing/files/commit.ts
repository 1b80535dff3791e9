/** Putting the changed bytes in place: flushed, reopened and checked first, then renamed whole. */

import type { InputFile } from '../../files/input-file.ts';
import type { PlannedFile, PreparedChange } from '../change.ts';
import { assertUnchanged } from './open-file.ts';
import type { StagedCopy } from './staged-copy.ts';

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
  await copy.prove().catch(async (thrown: unknown) => {
    // If the original has changed, that is what is to be reported: it is what the copy was compared with.
    await assertUnchanged(plan);
    throw thrown;
  });
  const { source, reader } = copy.reopen();
  await check(await plan.format.open(source, reader, plan.output));
  // Windows does not rename onto a file that is open.
  await input.close();
  await assertUnchanged(plan);
  const warnings = await copy.replaceTarget();
  return { bytes: source.size, warnings };
}
