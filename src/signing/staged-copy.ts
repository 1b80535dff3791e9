/** The temporary file beside the target: written while the original is digested, edited, flushed, then renamed into place. */

import type { BigIntStats } from 'node:fs';
import { constants } from 'node:fs';
import { type FileHandle, open, rename, statfs, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ByteSource } from '../bytes/byte-source.ts';
import { fileSource } from '../bytes/file-source.ts';
import type { Edit, Patch } from '../bytes/patch.ts';
import type { Content, Measure, MeasureContent, Measurement } from '../crypto/content.ts';
import { measureContent, startMeasuring } from '../crypto/measure-content.ts';
import { signingErrors } from './errors.ts';
import { inFileSystem, whenFree } from './file-system-errors.ts';
import { type TrailingMeasure, trailingMeasure } from './trailing-measure.ts';

const COPY = 'write the temporary file beside the target';
const FLUSH = 'flush the temporary file to the disk';

/** What a signature may add to a file beside its own bytes: certificates, a timestamp, alignment. */
const ROOM_FOR_SIGNATURE = 128 * 1024;

export interface StagedCopy extends AsyncDisposable {
  /** Measures the original and writes the copy in the same pass. */
  readonly measure: MeasureContent;
  /** Turns the copy into the original with `patch` applied; a later call replaces an earlier patch. */
  apply(patch: Patch): Promise<void>;
  /** Asks the disk to keep what has been written. */
  flush(): Promise<void>;
  /** The copy as it now stands, with a MeasureContent that may have read most of it already. */
  reopen(): Promise<{ source: ByteSource; measure: MeasureContent }>;
  /** Renames the copy onto the target, whole or not at all, and flushes the folder. */
  replaceTarget(): Promise<void>;
}

export interface StagedCopyOptions {
  readonly source: ByteSource;
  /** Owner and mode the result shall have. */
  readonly stats: BigIntStats;
  /** Where the result goes; its folder takes the temporary file. */
  readonly target: string;
  /** Makes the name of the temporary file unlike any other. */
  readonly randomName: () => string;
  /** The worker that digests a large copy while it is written; without one it is digested afterwards. */
  readonly workerUrl?: URL | undefined;
}

/** Creates the temporary file. Disposing removes it unless it has been renamed. */
export async function stageCopy(options: StagedCopyOptions): Promise<StagedCopy> {
  const { source, stats, target } = options;
  const folder = dirname(target);
  const path = join(folder, `.codesign-remote-${options.randomName()}.tmp`);
  await assertRoom(folder, source.size);
  const handle = await whenFree(`create a file in ${folder}`, () => open(path, 'wx+', 0o600));

  let size = 0;
  let complete = false;
  let applied: Patch = [];
  let renamed = false;
  let trailing: TrailingMeasure | undefined;

  async function write(bytes: Uint8Array, offset: number): Promise<void> {
    await inFileSystem(COPY, () => writeFully(handle, bytes, offset));
  }

  async function copyOriginal(seen: (chunk: Uint8Array, offset: number) => void): Promise<void> {
    size = 0;
    for await (const chunk of source.stream()) {
      // Started before the digest and awaited after it: the write runs in the thread pool meanwhile.
      const writing = write(chunk, size);
      try {
        seen(chunk, size);
      } finally {
        await writing;
      }
      size += chunk.length;
      trailing?.written(size);
    }
    complete = true;
    applied = [];
  }

  async function measureWhileCopying(
    _: ByteSource,
    content: Content,
    measures: readonly Measure[],
  ): Promise<Measurement> {
    const measuring = startMeasuring(content, measures);
    trailing = trailingMeasure({ path, content, measures, size: source.size, workerUrl: options.workerUrl });
    await copyOriginal((chunk, offset) => measuring.update(chunk, offset));
    return measuring.finish();
  }

  async function rewrite(patch: Patch): Promise<void> {
    trailing?.abandon();
    let position = 0;
    let read = 0;
    const copyUpTo = async (end: number): Promise<void> => {
      for await (const chunk of source.stream(read, end)) {
        await write(chunk, position);
        position += chunk.length;
      }
      read = end;
    };
    for (const edit of patch) {
      await copyUpTo(edit.offset);
      await write(edit.insert, position);
      position += edit.insert.length;
      read = edit.offset + edit.remove;
    }
    await copyUpTo(source.size);
    await setSize(position);
    complete = false;
  }

  async function setSize(wanted: number): Promise<void> {
    size = wanted;
    await inFileSystem(COPY, () => handle.truncate(wanted));
  }

  // The system tells a failed write-back once and forgets it: so that no later flush can pass for a good one, it is kept.
  let flushFault: { readonly thrown: unknown } | undefined;
  async function flush(): Promise<void> {
    if (flushFault) throw flushFault.thrown;
    try {
      await inFileSystem(FLUSH, () => handle.sync());
    } catch (thrown) {
      flushFault = { thrown };
      throw thrown;
    }
  }

  return {
    measure: measureWhileCopying,

    async apply(patch) {
      if (!complete || !keepsPositions(patch, source.size) || !sameRegions(applied, patch)) {
        await rewrite(patch);
        return;
      }
      for (const edit of patch) await write(edit.insert, edit.offset);
      const last = patch.at(-1);
      await setSize(last && reachesEnd(last, source.size) ? last.offset + last.insert.length : source.size);
      applied = patch;
    },

    flush,

    async reopen() {
      const reopened = fileSource(handle, size);
      const measure: MeasureContent = async (asked, content, measures) => {
        const already = asked === reopened ? await trailing?.finish(content, measures) : undefined;
        return already ?? measureContent(asked, content, measures);
      };
      return { source: reopened, measure };
    },

    async replaceTarget() {
      await inFileSystem('set owner and mode of the signed file', () => takeOwnerAndMode(handle, stats));
      await flush();
      await whenFree('put the signed file in place', () => rename(path, target));
      renamed = true;
      await flushFolder(folder);
    },

    async [Symbol.asyncDispose]() {
      trailing?.abandon();
      await handle.close();
      if (!renamed) await whenFree('remove the temporary file', () => unlink(path));
    },
  };
}

async function assertRoom(folder: string, size: number): Promise<void> {
  const { bavail, bsize } = await inFileSystem('look at the target folder', () => statfs(folder));
  // A file system that does not know (some network shares) says 0 blocks of 0 bytes: then the write will tell.
  if (bsize > 0 && bavail * bsize < size + ROOM_FOR_SIGNATURE) {
    throw signingErrors('disk-full', { doing: COPY });
  }
}

/** Whether the edits can be made in place on a copy: all keep what follows where it is, but for one at the end. */
function keepsPositions(patch: Patch, size: number): boolean {
  return patch.every(
    (edit, index) => edit.remove === edit.insert.length || (index === patch.length - 1 && reachesEnd(edit, size)),
  );
}

function reachesEnd(edit: Edit, size: number): boolean {
  return edit.offset + edit.remove === size;
}

/** Whether `next` overwrites every byte that `before` did, so that it can follow without going back to the original. */
function sameRegions(before: Patch, next: Patch): boolean {
  return before.every((edit, index) => edit.offset === next[index]?.offset && edit.remove === next[index].remove);
}

async function writeFully(handle: FileHandle, bytes: Uint8Array, offset: number): Promise<void> {
  let done = 0;
  while (done < bytes.length) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, offset + done);
    done += bytesWritten;
  }
}

/** Only root may give a file away; for others it stays theirs, as with any editor that saves through a rename. */
async function takeOwnerAndMode(handle: FileHandle, stats: BigIntStats): Promise<void> {
  if (process.platform === 'win32') return;
  const mine = await handle.stat({ bigint: true });
  if (mine.uid !== stats.uid || mine.gid !== stats.gid) {
    try {
      await handle.chown(Number(stats.uid), Number(stats.gid));
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'EPERM') throw thrown;
    }
  }
  // After chown, which clears the set-user-ID bits.
  await handle.chmod(Number(stats.mode & 0o7777n));
}

/** Makes the rename itself durable. Windows has no handle for that, and some file systems refuse it: both keep order. */
async function flushFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await inFileSystem('open the target folder', () => open(folder, constants.O_RDONLY));
  try {
    await handle.sync();
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code !== 'EINVAL' && code !== 'ENOTSUP') throw thrown;
  } finally {
    await handle.close();
  }
}
