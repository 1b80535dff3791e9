/** A planned file, opened again, with the temporary copy that will replace its target. */

import type { OnRead } from '../../bytes/byte-source.ts';
import { type InputFile, openInput } from '../../files/input-file.ts';
import type { PlannedFile, Run } from '../change.ts';
import type { BytesRead } from '../outcome.ts';
import { assertSame, assertUnchanged } from './same-file.ts';
import { type StagedCopy, stageCopy } from './staged-copy.ts';

export interface OpenFile extends AsyncDisposable {
  readonly input: InputFile;
  readonly copy: StagedCopy;
}

/**
 * Locks the target and creates the copy. Disposing closes both files, and removes the copy unless it was committed. Throws
 * `file-changed`, `target-busy`.
 */
export async function openFile(
  plan: PlannedFile,
  { disk, digestEntries, onEvent }: Pick<Run<never>, 'disk' | 'digestEntries' | 'onEvent'>,
): Promise<OpenFile> {
  const { path, stats, target } = plan;
  const input = await openPlanned(plan, onEvent);
  let copy: StagedCopy | undefined;
  const close = async (): Promise<void> => {
    await copy?.[Symbol.asyncDispose]();
    await input.close();
  };
  try {
    const { source } = input;
    copy = await stageCopy({ ...disk, digestEntries, source, original: input, stats, target, onEvent });
    // Another run may have ended, and released its lock, since the file was opened.
    await assertUnchanged(path, stats);
    return { input, copy, [Symbol.asyncDispose]: close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

/** Throws `file-changed` unless the file is as it was when it was planned. */
export async function openPlanned(
  { path, stats }: PlannedFile,
  onEvent: (event: BytesRead) => void,
): Promise<InputFile> {
  const input = await openInput(path, onBytesRead(path, onEvent));
  try {
    assertSame(stats, input.stats);
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
