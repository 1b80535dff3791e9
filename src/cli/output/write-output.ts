/** Writes a result to the file that `--output` names: completely or not at all, and never over the input file. */

import { randomBytes } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { type FileHandle, link, lstat, open, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { memorySource } from '../../bytes/byte-source.ts';
import { flushFolder, makeFolders } from '../../bytes/folders.ts';
import { hasCode } from '../../errors/system-reason.ts';
import { assertUtf8Name } from '../../files/file-names.ts';
import { fromFileSystem, inFileSystem } from '../../files/file-system-errors.ts';
import { identityOf } from '../../files/input-file.ts';
import { proveCopy } from '../../signing/files/copy-proof.ts';
import { assertReplaceable } from '../../signing/files/target.ts';
import { renameOver, writeFully } from '../../signing/files/temporary-file.ts';
import { cliErrors } from '../errors.ts';

interface OutputOptions {
  /** Path of the file that must not be overwritten. */
  readonly input?: string;
  /** Rejects any existing file, also one that another program creates meanwhile. */
  readonly isNew?: boolean;
}

/**
 * Writes a temporary file, flushes it, reads it again, and renames it. Replaces an existing file unless it is read-only, and
 * creates missing folders. Pipes and devices are written to directly. Throws `output-is-folder`, `output-is-input`,
 * `output-exists`, `name-not-utf8`, what `assertReplaceable` throws, and errors of the file system.
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
  // Links are followed, so that the rename replaces the file and not the link.
  const target = existing === undefined ? output : await inFileSystem(doing, () => realpath(output));
  await assertUtf8Name(target, true);
  if (existing !== undefined) await assertReplaceable(target);
  const temporary = join(dirname(target), `.codesign-remote-${randomBytes(8).toString('hex')}.tmp`);
  try {
    await inFileSystem(doing, () => makeFolders(dirname(target)));
    await using handle = await inFileSystem(doing, () => open(temporary, 'wx+'));
    await writeProven(handle, target, content);
    if (isNew) await linkOnly(handle, temporary, target);
    else await renameOver(handle, temporary, target);
  } catch (thrown) {
    await rm(temporary, { force: true }).catch(() => undefined); // the first error is thrown
    throw thrown;
  }
  // Without this flush, a power failure could undo the rename, but not damage a file.
  await flushFolder(dirname(target)).catch(() => undefined);
}

async function writeProven(handle: FileHandle, target: string, content: Uint8Array): Promise<void> {
  const doing = `write ${target}`;
  const flush = () => inFileSystem(doing, () => handle.sync());
  const proof = proveCopy({ handle, original: memorySource(new Uint8Array()), isClone: false, flush });
  const patch = [{ offset: 0, remove: 0, insert: [content] }];
  await proof.writing(patch, false, () => inFileSystem(doing, () => writeFully(handle, content, 0)));
  await proof.prove();
  proof.finish();
}

/** Codes of file systems without hard links. */
const WITHOUT_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'];

/** A link never replaces a file. Throws `output-exists`. */
async function linkOnly(handle: FileHandle, temporary: string, target: string): Promise<void> {
  const linked = await link(temporary, target).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  const isImpossible = hasCode(linked, ...WITHOUT_LINKS);
  const exists = isImpossible ? (await lstat(target).catch(() => undefined)) !== undefined : hasCode(linked, 'EEXIST');
  if (exists) throw cliErrors('output-exists', { output: target });
  if (isImpossible) await renameOver(handle, temporary, target);
  else if (linked !== undefined) throw fromFileSystem(linked, `write ${target}`);
  else await rm(temporary, { force: true });
}

function statsOf(path: string): Promise<BigIntStats | undefined> {
  return stat(path, { bigint: true }).catch(() => undefined);
}
