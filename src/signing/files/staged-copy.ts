import { statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ByteSource } from '../../bytes/byte-source.ts';
import { fileSource, isLocal, LARGEST_DIRECT, wholeSource } from '../../bytes/file-source.ts';
import { flushFolder, makeFolders } from '../../bytes/folders.ts';
import { type Patch, readPieces } from '../../bytes/pieces.ts';
import { lazy } from '../../bytes/reuse.ts';
import {
  type Content,
  type Measure,
  type Measurement,
  measureContent,
  sha256Of,
  startMeasuring,
} from '../../crypto/measure-content.ts';
import { systemReason } from '../../errors/system-reason.ts';
import { inFileSystem } from '../../files/file-system-errors.ts';
import type { FileStats } from '../../files/input-file.ts';
import type { ContentReader } from '../../format/signable-file.ts';
import { contentReader } from '../../formats/recognise.ts';
import type { DigestEntries } from '../../zip/entry-digests.ts';
import { signingWarnings } from '../errors.ts';
import { flushInTurn, writeBackWith } from './flushes.ts';
import { watchWrites } from './own-writes.ts';
import { piecesToWrite, resultSize, sectionsOf } from './patch-geometry.ts';
import { temporaryPathName } from './stale-files.ts';
import {
  assertFreeSpace,
  COPY,
  createTemporaryFile,
  type OnNotRemoved,
  type Placement,
  putInPlace,
  removeTemporaryFile,
  takeOwnerAndMode,
  writeFully,
} from './temporary-file.ts';

/** `chunk` is valid only until the next chunk is read. */
type CopiedChunk = { readonly chunk: Uint8Array; readonly position: number };

export type StagedCopy = Awaited<ReturnType<typeof stageCopy>>;

export interface StagedCopyOptions {
  readonly source: ByteSource;
  /** Metadata of the original. The result gets the same owner and mode. */
  readonly stats: FileStats;
  /** The temporary file is created in the folder of the result. A missing folder is created. */
  readonly target: string;
  /** True if it is known that the folder exists. */
  readonly hasFolder?: boolean;
  /** True if it is known that the folder is on a local file system. */
  readonly isLocal?: boolean;
  readonly randomName: () => string;
  readonly removeStaleFiles?: (folder: string) => Promise<void>;
  readonly flushFolder?: (folder: string) => Promise<void>;
  readonly digestEntries: DigestEntries;
  readonly temporaryFiles: Set<string>;
  readonly onEvent: OnNotRemoved;
}

/**
 * Returns true if it is known that the folder is on a local disk. Throws `disk-full` if there is not enough space for a
 * copy.
 */
async function lookAtDisk(folder: string, size: number): Promise<boolean> {
  const disk = await inFileSystem('look at the target folder', async () => statfsSync(folder));
  assertFreeSpace(disk, size);
  return isLocal(disk);
}

/** Creates the temporary file. Disposing of this object removes the file, unless it was renamed to the target. */
export async function stageCopy(options: StagedCopyOptions) {
  const { source, stats, target, temporaryFiles } = options;
  const folder = dirname(target);
  const path = join(folder, temporaryPathName(options.randomName()));
  if (!options.hasFolder) await inFileSystem(`make the folder ${folder}`, () => makeFolders(folder));
  await options.removeStaleFiles?.(folder);
  const mayBeSmall = source.size <= LARGEST_DIRECT;
  // For a small file, the rehearsal shows whether there is enough space.
  const isOnLocalDisk = (mayBeSmall && options.isLocal) || (await lookAtDisk(folder, source.size));
  /** For a small file, each patch is applied in memory, and the result is written and read as a whole. */
  const isSmall = mayBeSmall && isOnLocalDisk;
  const handle = await createTemporaryFile(path, isSmall);
  temporaryFiles.add(path);

  let size = 0;
  /** The edits that created the copy from the original. undefined if the copy has any other content. */
  let applied: Patch | undefined;
  const reader = contentReader(options.digestEntries);
  const flushes = flushInTurn(() => inFileSystem('flush the temporary file to the disk', () => handle.sync()));
  const writes = watchWrites(handle, isOnLocalDisk);
  const takeOwnerOnce = lazy(() =>
    inFileSystem('set owner and mode of the temporary file', () => takeOwnerAndMode(handle, stats, writes.created)),
  );
  const open = async () => (isSmall ? await wholeSource(handle, size) : fileSource(handle, size));
  let renamed = false;

  /** Writes the chunks in order, and yields each chunk while it is being written. */
  async function* copied(chunks: AsyncIterable<Uint8Array>, start = 0): AsyncGenerator<CopiedChunk> {
    const writeBack = writeBackWith(flushes.flush);
    let position = start;
    for await (const chunk of chunks) {
      // The write starts before the chunk is yielded, so that the caller computes the digest while the thread pool
      // writes.
      const at = position;
      const copying = inFileSystem(COPY, () => writeFully(handle, chunk, at));
      try {
        yield { chunk, position };
      } finally {
        await copying;
      }
      position += chunk.length;
      writeBack(position - start);
    }
  }

  async function measureWhileCopying(
    _original: ByteSource,
    content: Content,
    measures: readonly Measure[],
    draft?: () => Patch,
  ): Promise<Measurement> {
    if (isSmall) return measureContent(source, content, measures);
    if (draft !== undefined) return measureWhileDrafting(content, measures, draft());
    const measuring = startMeasuring(content, measures, source.size);
    await writes.own(async () => {
      for await (const { chunk, position } of copied(source.stream())) measuring?.update(chunk, position);
    });
    size = source.size;
    applied = [];
    return measuring?.finish() ?? measureContent(source, content, measures);
  }

  /** The thread pool reads and writes while this thread computes digests, so the second pass takes no extra time. */
  async function measureWhileDrafting(
    content: Content,
    measures: readonly Measure[],
    draft: Patch,
  ): Promise<Measurement> {
    const drafting = apply(draft);
    drafting.catch(() => undefined);
    try {
      return await measureContent(source, content, measures);
    } finally {
      await drafting;
    }
  }

  /** Writes only those bytes of a large file that are missing. */
  async function apply(patch: Patch): Promise<void> {
    const wanted = resultSize(patch, source.size);
    const there = applied;
    await writes.own(async () => {
      applied = undefined;
      for (const { position, pieces } of sectionsOf(piecesToWrite(patch, there, source.size))) {
        for await (const _ of copied(readPieces(source, pieces), position));
      }
      if (wanted < size) await inFileSystem(COPY, () => handle.truncate(wanted));
      size = wanted;
      if (!isSmall) applied = patch;
      await takeOwnerOnce();
    });
  }

  return {
    /**
     * If the whole content is measured, the same pass writes the copy. If only entries are digested, `apply` writes it
     * later.
     */
    reader: { ...reader, measure: measureWhileCopying },

    flush: flushes.flush,

    /**
     * Changes the copy into the patched original. Also sets its owner and mode, as far as the current user may do so.
     * If this function is called again, the new patch replaces the previous patch. Throws `copy-changed` if another
     * program wrote to the copy.
     */
    async apply(patch: Patch): Promise<void> {
      await apply(patch);
      // If a flush failed during copying, throws before a signature is requested.
      flushes.assertNoneFailed();
    },

    async reopen(): Promise<{ readonly source: ByteSource; readonly reader: ContentReader }> {
      return { source: await open(), reader };
    },

    size: () => size,

    sha256: async () => await inFileSystem('read the temporary file', async () => sha256Of(await open())),

    /**
     * Creates or replaces the target in one step, then flushes the folder. Problems that occur after the rename are
     * returned as warnings, because the file is already in place. Throws `file-changed`, or `copy-changed` if another
     * program wrote to the copy or replaced it.
     */
    async replaceTarget(look: Pick<Placement, 'isNew' | 'assertUnchanged'>): Promise<readonly string[]> {
      await putInPlace({ own: writes, path, target, ...look });
      renamed = true;
      // If the target was created as a hard link, the file still has its temporary name too.
      if (look.isNew) await removeTemporaryFile(path, temporaryFiles, options.onEvent);
      temporaryFiles.delete(path);
      return (options.flushFolder ?? flushFolder)(folder).then(
        () => [],
        (thrown: unknown) => [signingWarnings('folder-not-flushed', { reason: systemReason(thrown) })],
      );
    },

    // Never throws, because a new error would hide the error of the actual work.
    async [Symbol.asyncDispose](): Promise<void> {
      await handle.close().catch(() => undefined);
      if (!renamed) await removeTemporaryFile(path, temporaryFiles, options.onEvent);
    },
  };
}
