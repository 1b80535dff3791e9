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
  /** Rejects any existing file, even one that another program creates during the run. */
  readonly isNew?: boolean;
}

/**
 * The file is written completely or not at all, and the input file is never replaced. Writes pipes and devices
 * directly.
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
  // A rename would replace a link, not the file that it leads to.
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
    const assertUnchanged = () => {
      if (isNew && lstatSync(target, { throwIfNoEntry: false })) throw cliErrors('output-exists', { output });
    };
    await putInPlace({ own: writes, path: temporary, target, isNew, assertUnchanged });
  } finally {
    // After a hard link or a failure, the temporary file still exists. An error here must not hide the error that
    // occurred first.
    await rm(temporary, { force: true }).catch(() => undefined);
  }
  // A failed flush is ignored: a power failure could then undo the rename, but not damage a file.
  await flushFolder(dirname(target)).catch(() => undefined);
}

function statsOf(path: string): Promise<BigIntStats | undefined> {
  return stat(path, { bigint: true }).catch(() => undefined);
}
