/** Writes a result to the file that `--output` names: completely or not at all, and never over the input file. */

import { randomBytes } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { type FileHandle, open, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { memorySource } from '../../bytes/byte-source.ts';
import { flushFolder, makeFolders } from '../../bytes/folders.ts';
import { assertUtf8Name } from '../../files/file-names.ts';
import { inFileSystem } from '../../files/file-system-errors.ts';
import { identityOf } from '../../files/input-file.ts';
import { proveCopy } from '../../signing/files/copy-proof.ts';
import { assertReplaceable } from '../../signing/files/target.ts';
import { renameOver, writeFully } from '../../signing/files/temporary-file.ts';
import { cliErrors } from '../errors.ts';

/**
 * Writes a temporary file, flushes it, reads it again, and renames it. Replaces an existing file unless it is read-only, and
 * creates missing folders. Pipes and devices are written to directly. Throws `output-is-folder`, `output-is-input`,
 * `name-not-utf8`, what `assertReplaceable` throws, and errors of the file system.
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
  await assertUtf8Name(target, true);
  if (existing !== undefined) await assertReplaceable(target);
  const temporary = join(dirname(target), `.codesign-remote-${randomBytes(8).toString('hex')}.tmp`);
  try {
    await inFileSystem(doing, () => makeFolders(dirname(target)));
    await using handle = await inFileSystem(doing, () => open(temporary, 'wx+'));
    await replaceBy(handle, temporary, target, content);
  } catch (thrown) {
    await rm(temporary, { force: true }).catch(() => undefined); // the first error is thrown
    throw thrown;
  }
  // Without this flush, a power failure could undo the rename, but not damage a file.
  await flushFolder(dirname(target)).catch(() => undefined);
}

async function replaceBy(handle: FileHandle, temporary: string, target: string, content: Uint8Array): Promise<void> {
  const doing = `write ${target}`;
  const flush = () => inFileSystem(doing, () => handle.sync());
  const proof = proveCopy({ handle, original: memorySource(new Uint8Array()), isClone: false, flush });
  const patch = [{ offset: 0, remove: 0, insert: [content] }];
  await proof.writing(patch, false, () => inFileSystem(doing, () => writeFully(handle, content, 0)));
  await proof.prove();
  proof.finish();
  await renameOver(handle, temporary, target);
}

function statsOf(path: string): Promise<BigIntStats | undefined> {
  return stat(path, { bigint: true }).catch(() => undefined);
}
