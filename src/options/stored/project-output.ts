import { lstatSync, type Stats } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { isAtOrBelow } from '../../bytes/folders.ts';
import { settingsErrors } from '../errors.ts';

/**
 * A result must be below the folder of the project file at `path`, outside `.git`, and must not lead through a link. A
 * missing folder is created by this run, so it cannot be a link.
 */
export function checkProjectOutputs(path: string, outputs: readonly string[]): void {
  const folder = dirname(path);
  const checked = new Set<string>();
  for (const output of outputs.map((one) => resolve(one))) {
    const refuse = (reason: string) => settingsErrors('project-output-refused', { path, output, reason });
    if (!isAtOrBelow(output, folder)) throw refuse('this path is outside the folder of the project file');
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

/** Recognises `.git` in upper case, with ignored characters or a stream name, and its short name on Windows. */
function isGitFolder(name: string): boolean {
  const plain = name.replace(/\p{Default_Ignorable_Code_Point}/gu, '').toLowerCase();
  return /^(?:\.git|git~\d+)[. ]*(?::.*)?$/.test(plain);
}

function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    // If part of the path is not a folder, writing the result fails later.
    return undefined;
  }
}
