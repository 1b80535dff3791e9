/** Writes a result to the file named with `--output`: completely or not at all, and never over the input file. */

import { randomBytes } from 'node:crypto';
import { type BigIntStats, lstatSync } from 'node:fs';
import { open, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isKnownLocal } from '../../bytes/file-source.ts';
import { flushFolder, makeFolders } from '../../bytes/folders.ts';
import { assertUtf8Name } from '../../files/file-names.ts';
import { inFileSystem } from '../../files/file-system-errors.ts';
import { identityOf } from '../../files/input-file.ts';
import { watchWrites } from '../../signing/files/own-writes.ts';
import { assertReplaceable } from '../../signing/files/target.ts';
import { putInPlace, writeFully } from '../../signing/files/temporary-file.ts';
import { cliErrors } from '../errors.ts';

interface OutputOptions {
  readonly input?: string;
  /** Rejects any existing file, even one that another program creates meanwhile. */
  readonly isNew?: boolean;
}

/**
 * Writes a temporary file, flushes it, and renames it. Replaces an existing file unless it is read-only, and creates
 * missing folders. Writes directly to pipes and devices.
 */
export async function writeOutput(
  output: string,
  content: Uint8Array,
  { input, isNew = false }: OutputOptions,
): Promise<void> {
  const existing = await statsOf(output);
  if (existing?.isDirectory()) throw cliErrors('output-is-folder', { output });
  if (existing && isNew) throw cliErrors('output-exists', { output });
  const source = input === undefined ? undefined : await statsOf(input);
  if (existing && source && identityOf(existing) === identityOf(source)) throw cliErrors('output-is-input', { output });
  const doing = `write ${output}`;
  if (existing && !existing.isFile()) {
    await inFileSystem(doing, () => writeFile(output, content));
    return;
  }
  // Follow links, because the rename would otherwise replace the link instead of the file.
  const target = existing === undefined ? output : await inFileSystem(doing, () => realpath(output));
  await assertUtf8Name(target, true);
  if (existing !== undefined) await assertReplaceable(target);
  const temporary = join(dirname(target), `.codesign-remote-${randomBytes(8).toString('hex')}.tmp`);
  try {
    await inFileSystem(doing, () => makeFolders(dirname(target)));
    await using handle = await inFileSystem(doing, () => open(temporary, 'wx+'));
    const writes = watchWrites(handle, isKnownLocal(temporary));
    await inFileSystem(doing, async () => {
      await writes.own(() => writeFully(handle, content, 0));
      await handle.sync();
    });
    writes.assertUntouched();
    const assertUnchanged = () => {
      if (isNew && lstatSync(target, { throwIfNoEntry: false })) throw cliErrors('output-exists', { output });
    };
    await putInPlace({ own: writes.created, path: temporary, target, isNew, assertUnchanged });
  } finally {
    // The temporary file still exists after a hard link or a failure; an error here must not hide that failure.
    await rm(temporary, { force: true }).catch(() => undefined);
  }
  // Without flushing the folder, a power failure could undo the rename, but not damage a file.
  await flushFolder(dirname(target)).catch(() => undefined);
}

function statsOf(path: string): Promise<BigIntStats | undefined> {
  return stat(path, { bigint: true }).catch(() => undefined);
}
