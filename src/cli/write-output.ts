/** Writes a result to the file that `--output` names: whole or not at all, and never over the file it came from. */

import { randomBytes } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolders } from '../bytes/make-folders.ts';
import { inFileSystem, whenFree } from '../files/file-system-errors.ts';
import { identityOf } from '../signing/same-file.ts';
import { assertReplaceable } from '../signing/target.ts';
import { cliErrors } from './errors.ts';

/**
 * A file that is there is replaced unless it is read-only, a missing folder made; a pipe or a device is written to. Throws
 * `output-is-folder`, `output-is-input`, what `assertReplaceable` throws, and what the system says.
 */
export async function writeOutput(output: string, content: Uint8Array, input: string): Promise<void> {
  const existing = await statsOf(output);
  if (existing?.isDirectory()) throw cliErrors('output-is-folder', { output });
  const source = await statsOf(input);
  if (existing && source && identityOf(existing) === identityOf(source)) throw cliErrors('output-is-input', { output });
  const doing = `write ${output}`;
  if (existing && !existing.isFile()) {
    await inFileSystem(doing, () => writeFile(output, content));
    return;
  }
  // Links are followed, so that the rename replaces the file and not the link.
  const target = existing === undefined ? output : await inFileSystem(doing, () => realpath(output));
  if (existing !== undefined) await assertReplaceable(target);
  const temporary = join(dirname(target), `.codesign-remote-${randomBytes(8).toString('hex')}.tmp`);
  try {
    await inFileSystem(doing, () => makeFolders(dirname(target)));
    await inFileSystem(doing, () => writeFile(temporary, content, { flag: 'wx' }));
    await whenFree(doing, () => rename(temporary, target));
  } catch (thrown) {
    await rm(temporary, { force: true }).catch(() => undefined); // what failed first is what counts
    throw thrown;
  }
}

function statsOf(path: string): Promise<BigIntStats | undefined> {
  return stat(path, { bigint: true }).catch(() => undefined);
}
