/** Restricts the output of a project file to paths below its folder, outside `.git`, and without links. */

import { lstatSync, type Stats } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { isAtOrBelow } from '../../bytes/folders.ts';
import { settingsErrors } from '../errors.ts';

/**
 * Throws `project-output-refused` if a result would leave the project folder, follow a link below it, or enter a `.git`
 * folder. `path`: path of the project file. A missing folder is created by the run, so it is not a link.
 */
export function checkProjectOutputs(path: string, outputs: readonly string[]): void {
  const folder = dirname(path);
  const checked = new Set<string>();
  for (const output of outputs.map((one) => resolve(one))) {
    const refuse = (reason: string) => settingsErrors('project-output-refused', { path, output, reason });
    if (!isAtOrBelow(output, folder)) throw refuse('that is outside the folder of this file');
    let at = folder;
    for (const name of relative(folder, output).split(sep)) {
      at = join(at, name);
      if (checked.has(at)) continue;
      checked.add(at);
      if (isGitFolder(name)) throw refuse(`${at} belongs to git`);
      if (statsOf(at)?.isSymbolicLink()) throw refuse(`${at} is a link`);
    }
  }
}

/** Covers other names of `.git`: upper case, ignored characters, a stream, or the short name on Windows. */
function isGitFolder(name: string): boolean {
  const plain = name.replace(/\p{Default_Ignorable_Code_Point}/gu, '').toLowerCase();
  return /^(?:\.git|git~\d+)[. ]*(?::.*)?$/.test(plain);
}

function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    // If a component is not a folder, the error occurs later, when the result is written.
    return undefined;
  }
}
