/** Removes the temporary files of processes that were killed in every folder that an unfinished call wanted to write to. */

import { dirname } from 'node:path';
import type { UnfinishedCall } from '../../journal/journal.ts';
import type { TemporaryNames } from '../files/left-temporary-files.ts';
import { resolveTarget } from '../files/target.ts';

/** Never throws. Also for calls that need no writing any more, or cannot have it: a copy was begun before they were made. */
export async function removeLeftBy(
  calls: readonly UnfinishedCall[],
  { removeLeft }: Pick<TemporaryNames, 'removeLeft'>,
): Promise<void> {
  const outputs = calls.flatMap(({ files }) => files.flatMap(({ signingOptions }) => signingOptions?.output ?? []));
  for (const output of new Set(outputs)) {
    // A file that is a link was to be replaced where it leads.
    const target = await resolveTarget(output).catch(() => output);
    await removeLeft(dirname(target));
  }
}
