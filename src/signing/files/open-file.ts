import { statSync } from 'node:fs';
import type { OnRead } from '../../bytes/byte-source.ts';
import { inFileSystem } from '../../files/file-system-errors.ts';
import { type FileStats, type InputFile, isUnchanged, openInput } from '../../files/input-file.ts';
import type { PlannedFile, Run } from '../change.ts';
import { signingErrors } from '../errors.ts';
import type { BytesRead } from '../outcome.ts';
import { type StagedCopy, stageCopy } from './staged-copy.ts';

export type OpenFile = Awaited<ReturnType<typeof openFile>>;

/**
 * Locks the target and creates the copy. Disposing closes both files, and removes the copy unless it was committed. Throws
 * `file-changed`, `target-busy`.
 */
export async function openFile(
  plan: PlannedFile,
  { disk, digestEntries, onEvent }: Pick<Run<never>, 'disk' | 'digestEntries' | 'onEvent'>,
): Promise<{ readonly input: InputFile; readonly copy: StagedCopy } & AsyncDisposable> {
  const { stats, target } = plan;
  const input = await openPlanned(plan, onEvent);
  let copy: StagedCopy | undefined;
  const close = async (): Promise<void> => {
    await copy?.[Symbol.asyncDispose]();
    await input.close();
  };
  try {
    const { source } = input;
    copy = await stageCopy({ ...disk, original: input, digestEntries, source, stats, target, onEvent });
    // Another run may have ended, and released its lock, since the file was opened.
    await assertUnchanged(plan);
    return { input, copy, [Symbol.asyncDispose]: close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

/** Throws `file-changed` unless the file is as it was when it was planned. */
export async function openPlanned(plan: PlannedFile, onEvent: (event: BytesRead) => void): Promise<InputFile> {
  const { path } = plan;
  const input = await openInput(path, onBytesRead(path, onEvent));
  try {
    assertSame(plan.stats, input.stats);
    return input;
  } catch (thrown) {
    await input.close();
    throw thrown;
  }
}

/** Reports how far a large file has been read. */
export function onBytesRead(path: string, onEvent: (event: BytesRead) => void): OnRead {
  return (bytes, size) => onEvent({ type: 'bytes-read', path, bytes, size });
}

/** Throws `file-changed` unless `now` is the file that `before` was, untouched. */
function assertSame(before: FileStats, now: FileStats): void {
  if (!isUnchanged(before, now)) throw signingErrors('file-changed');
}

/** Throws `file-changed` unless the path leads to the file that was planned, untouched. */
export async function assertUnchanged({ path, stats }: PlannedFile): Promise<void> {
  assertSame(stats, await inFileSystem('look at the file again', async () => statSync(path, { bigint: true })));
}
