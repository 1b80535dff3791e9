/** Putting the signed bytes in place: flushed, reopened and checked first, then renamed whole. */

import type { InputFile } from '../files/input-file.ts';
import type { ExpectedEnvelope } from '../formats/format.ts';
import type { PlannedFile } from './plan.ts';
import { assertUnchanged } from './same-file.ts';
import type { StagedCopy } from './staged-copy.ts';

export interface Commit {
  readonly plan: PlannedFile;
  readonly input: InputFile;
  /** Signed. */
  readonly copy: StagedCopy;
  readonly expected: ExpectedEnvelope;
}

export interface Committed {
  /** Size of the signed file. */
  readonly bytes: number;
  readonly warnings: readonly string[];
}

/** The original stays untouched until the rename. */
export async function commit({ plan, input, copy, expected }: Commit): Promise<Committed> {
  await copy.flush();
  const { source, reading } = copy.reopen();
  const result = await plan.format.open(source, reading);
  await result.check(expected);
  // Windows does not rename onto a file that is open.
  await input.close();
  await assertUnchanged(plan.path, plan.stats);
  const warnings = await copy.replaceTarget();
  return { bytes: source.size, warnings };
}
