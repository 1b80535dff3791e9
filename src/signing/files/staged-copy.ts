/** The temporary file next to the target: written while the original is digested, edited, proven, renamed into place. */

import { dirname, join } from 'node:path';
import type { ByteSource } from '../../bytes/byte-source.ts';
import { fileSource } from '../../bytes/file-source.ts';
import { flushFolder, makeFolders } from '../../bytes/folders.ts';
import type { Patch } from '../../bytes/patch.ts';
import { readPieces } from '../../bytes/pieces.ts';
import type { Content, Measure, MeasureContent, Measurement } from '../../crypto/content.ts';
import { type Measuring, measureContent, startMeasuring } from '../../crypto/measure-content.ts';
import { systemReason } from '../../errors/system-reason.ts';
import { inFileSystem } from '../../files/file-system-errors.ts';
import type { FileStats } from '../../files/input-file.ts';
import type { ContentReader } from '../../formats/format.ts';
import { contentReader } from '../../formats/recognise.ts';
import type { DigestEntries } from '../../zip/entry-digests.ts';
import { signingErrors } from '../errors.ts';
import { proveCopy, SOON_COMPARED } from './copy-proof.ts';
import { temporaryPathName } from './file-owners.ts';
import { flushInTurn, writeBackWith } from './flushes.ts';
import {
  insertsAlone,
  isSameContent,
  keepsPositions,
  leavesAlone,
  originIn,
  type PatchShape,
  piecesToWrite,
  sectionsOf,
  shapeOf,
} from './patch-geometry.ts';
import { rememberDigests } from './remembered-digests.ts';
import type { LockTarget, TargetLock } from './target-lock.ts';
import {
  assertFreeSpace,
  COPY,
  createTemporaryFile,
  type OnLeft,
  type OriginalFile,
  readBack,
  removeTemporaryFile,
  renameOver,
  reportLeft,
  takeOwnerAndMode,
  writeFully,
} from './temporary-file.ts';

interface Applied {
  readonly patch: Patch;
  readonly shape: PatchShape;
}

const NO_PATCH: Applied = { patch: [], shape: [] };

/** `chunk` is valid until the next one is read; `position` is its offset in the copy. */
type CopiedChunk = { readonly chunk: Uint8Array; readonly position: number };

const FLUSH = 'flush the temporary file to the disk';

export type StagedCopy = Awaited<ReturnType<typeof stageCopy>>;

export interface StagedCopyOptions {
  readonly source: ByteSource;
  /** The file that the source reads, where the file system may clone it. */
  readonly original?: OriginalFile;
  /** Of the original, whose owner and mode the result shall have. */
  readonly stats: FileStats;
  /** Where the result goes; its folder, made where it is missing, takes the temporary file. */
  readonly target: string;
  /** Makes the name of the temporary file unlike any other. */
  readonly randomName: () => string;
  /** Removes what a process that was killed has left in a folder. */
  readonly removeLeft?: (folder: string) => Promise<void>;
  /** Keeps other runs from the target until the copy is disposed of. */
  readonly lockTarget?: LockTarget;
  /** Makes what was renamed in a folder durable. */
  readonly flushFolder?: (folder: string) => Promise<void>;
  readonly digestEntries: DigestEntries;
  /** Holds the paths of temporary file and lock for as long as they are there. */
  readonly temporaryFiles: Set<string>;
  readonly onEvent: OnLeft;
}

/**
 * Locks the target and creates the temporary file. Disposing removes both, unless the file has been renamed. Throws
 * `target-busy`.
 */
export async function stageCopy(options: StagedCopyOptions) {
  const { source, stats, target, temporaryFiles } = options;
  const folder = dirname(target);
  const path = join(folder, temporaryPathName(options.randomName(), 'copy'));
  await inFileSystem(`make the folder ${folder}`, () => makeFolders(folder));
  await options.removeLeft?.(folder);
  await assertFreeSpace(folder, source.size);
  const lock = await options.lockTarget?.(target, (left, thrown) => reportLeft(left, thrown, options.onEvent));
  if (lock) temporaryFiles.add(lock.path);
  const created = await createTemporaryFile(path, source.size, options.original).catch(async (thrown) => {
    await unlock(lock, options);
    throw thrown;
  });
  const { handle, isClone } = created;
  temporaryFiles.add(path);

  /** Size of the copy as it stands. */
  let size = isClone ? source.size : 0;
  /** What the copy is: the original with these edits made; undefined when it is anything else. */
  let applied: Applied | undefined = isClone ? NO_PATCH : undefined;
  const reader = contentReader(options.digestEntries);
  const remembered = rememberDigests(reader.digestEntries);
  let measured: { readonly content: Content; readonly measuring: Measuring } | undefined;
  /** Of the original, while a draft was written. */
  let digested: { readonly content: Content; readonly measurement: Measurement } | undefined;
  const flushes = flushInTurn(() => inFileSystem(FLUSH, () => handle.sync()));
  /** Read back as it is written. A larger one is read back whole while the service signs. */
  const isSmall = source.size <= SOON_COMPARED;
  const unwatched = options.original?.unwatched ?? source;
  const proof = proveCopy({ handle, original: unwatched, isClone, flush: flushes.flush });
  let renamed = false;

  async function write(bytes: Uint8Array, offset: number): Promise<void> {
    await inFileSystem(COPY, () => writeFully(handle, bytes, offset));
  }

  async function writeAndCompare(chunk: Uint8Array, offset: number, scratch: Uint8Array): Promise<void> {
    await write(chunk, offset);
    const back = scratch.subarray(0, chunk.length);
    const isWhole = await inFileSystem('read back the temporary file', () => readBack(handle, back, offset));
    if (!isWhole || Buffer.compare(back, chunk) !== 0) throw signingErrors('copy-differs');
  }

  /** Writes the chunks one behind the other, and gives each while it is being written. */
  async function* copied(chunks: AsyncIterable<Uint8Array>, start = 0): AsyncGenerator<CopiedChunk> {
    const writeBack = writeBackWith(flushes.flush);
    let scratch = new Uint8Array();
    let position = start;
    for await (const chunk of chunks) {
      if (isSmall && scratch.length < chunk.length) scratch = new Uint8Array(chunk.length);
      // Started before the chunk is looked at and awaited after it: writing and reading run in the thread pool meanwhile.
      const copying = isSmall ? writeAndCompare(chunk, position, scratch) : write(chunk, position);
      try {
        yield { chunk, position };
      } finally {
        await copying;
      }
      position += chunk.length;
      writeBack(position - start);
    }
  }

  /** The bytes that the copy has, in the order of the file. */
  async function* own(): AsyncGenerator<CopiedChunk> {
    const clone = fileSource(handle, source.size);
    let position = 0;
    for await (const chunk of (options.original?.watch(clone) ?? clone).stream()) {
      yield { chunk, position };
      position += chunk.length;
    }
  }

  async function measureWhileCopying(
    _original: ByteSource,
    content: Content,
    measures: readonly Measure[],
    draft?: () => Patch,
  ): Promise<Measurement> {
    if (draft !== undefined) return measureWhileDrafting(content, measures, draft());
    const measuring = startMeasuring(content, measures, source.size);
    const chunks = isClone ? own() : copied(source.stream());
    for await (const { chunk, position } of chunks) measuring?.update(chunk, position);
    size = source.size;
    applied = NO_PATCH;
    if (measuring === undefined) return measureContent(source, content, measures);
    measured = { content, measuring };
    return measuring.finish();
  }

  /** Reading and writing run in the thread pool, while this thread digests: the second pass over the original takes no longer. */
  async function measureWhileDrafting(
    content: Content,
    measures: readonly Measure[],
    draft: Patch,
  ): Promise<Measurement> {
    const drafting = apply(draft, unwatched);
    drafting.catch(() => undefined);
    try {
      const measurement = await measureContent(source, content, measures);
      digested = { content, measurement };
      return measurement;
    } finally {
      await drafting;
    }
  }

  /** Turns the copy into the original, read from `from`, with the patch applied: only what is not there yet is written. */
  async function apply(patch: Patch, from: ByteSource): Promise<void> {
    const shape = shapeOf(patch, source.size);
    const there = applied?.patch;
    const keeps = proof.stands() && insertsAlone(patch, there, source.size);
    await proof.writing(patch, keeps, async () => {
      applied = undefined;
      for (const { position, pieces } of sectionsOf(piecesToWrite(patch, there, source.size))) {
        for await (const _ of copied(readPieces(from, pieces), position));
      }
      await setSize(shape.reduce((sum, { added, remove }) => sum + added - remove, source.size));
      applied = { patch, shape };
    });
  }

  async function setSize(wanted: number): Promise<void> {
    if (wanted === size) return;
    size = wanted;
    await inFileSystem(COPY, () => handle.truncate(wanted));
  }

  return {
    /**
     * Of the original. Measuring its content writes the copy in the same pass, and compares a small one with what the disk gives
     * back; digesting entries leaves the writing to the patch.
     */
    reader: { ...reader, measure: measureWhileCopying, digestEntries: remembered.digestEntries },

    /** Asks the disk to keep what has been written; of a large file, also reads it back and compares it. */
    flush: () => (isSmall ? flushes.flush() : proof.prove()),
    /** Flushes, and makes sure that the file holds the original with the patch, to the last byte. Throws `copy-changed`. */
    prove: proof.prove,

    /** Turns the copy into the original with the patch applied; a later call replaces an earlier patch. */
    async apply(patch: Patch): Promise<void> {
      await apply(patch, source);
      // Before a signature is requested, if a flush during the copying has found it by then.
      flushes.assertNoneFailed();
    },

    /**
     * The copy as it now stands. Reading it does not digest again what is known to be the original's bytes, which `prove`
     * compares.
     */
    reopen(): { readonly source: ByteSource; readonly reader: ContentReader } {
      const reopened = fileSource(handle, size, true);
      const { patch, shape } = applied ?? {};
      const isInPlace = shape && measured && keepsPositions(shape, source.size) && leavesAlone(shape, measured.content);
      const continued = isInPlace ? measured?.measuring : undefined;
      const drafted = digested;
      const measure: MeasureContent = async (asked, content, measures) => {
        if (asked !== reopened) return measureContent(asked, content, measures);
        if (drafted && patch && isSameContent(patch, source.size, content, drafted.content)) {
          const { digests } = drafted.measurement;
          if (measures.every((each) => each !== 'SUM16' && digests.has(each))) return drafted.measurement;
        }
        const rest = await continued?.continueWith(reopened, content, measures);
        return rest ?? measureContent(reopened, content, measures);
      };
      const digestEntries: DigestEntries = (asked, entries, algorithms) => {
        const isCopy = asked === reopened && patch !== undefined;
        const digest = isCopy ? remembered.forCopy(originIn(patch, source.size)) : options.digestEntries;
        return digest(asked, entries, algorithms);
      };
      return { source: reopened, reader: { ...contentReader(options.digestEntries), measure, digestEntries } };
    },

    /** Gives the copy what the original has, as far as this user may. */
    takeOwnerAndMode: (): Promise<void> =>
      proof.keeping(() =>
        inFileSystem('set owner and mode of the temporary file', () => takeOwnerAndMode(handle, stats)),
      ),

    /**
     * Renames the copy, which must have been proven, onto the target, whole or not at all, and flushes the folder. What fails
     * after the rename is reported as warnings: the file is in place. Throws `copy-changed` if another program has changed the
     * copy since, or put another file in its place.
     */
    async replaceTarget(): Promise<readonly string[]> {
      await lock?.assertHeld();
      proof.finish();
      await renameOver(handle, path, target);
      renamed = true;
      temporaryFiles.delete(path);
      return (options.flushFolder ?? flushFolder)(folder).then(
        () => [],
        (thrown: unknown) => [`The folder could not be flushed to the disk (${systemReason(thrown)}).`],
      );
    },

    // Never throws: that would hide what the work itself threw. All that was written has been flushed or is given up.
    async [Symbol.asyncDispose](): Promise<void> {
      await handle.close().catch(() => undefined);
      if (!renamed) await removeTemporaryFile(path, options.temporaryFiles, options.onEvent);
      await unlock(lock, options);
    },
  };
}

async function unlock(lock: TargetLock | undefined, options: StagedCopyOptions): Promise<void> {
  if (lock === undefined) return;
  await lock.release().catch((thrown: unknown) => reportLeft(lock.path, thrown, options.onEvent));
  options.temporaryFiles.delete(lock.path);
}
