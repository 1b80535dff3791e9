/** The temporary file beside the target: written and read back while the original is digested, edited, flushed, renamed into place. */

import type { BigIntStats } from 'node:fs';
import { mkdir, open, rename, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ByteSource } from '../bytes/byte-source.ts';
import { fileSource } from '../bytes/file-source.ts';
import type { Edit, Patch } from '../bytes/patch.ts';
import type { Content, Measure, MeasureContent, Measurement } from '../crypto/content.ts';
import { type Measuring, measureContent, startMeasuring } from '../crypto/measure-content.ts';
import { toCodesignError } from '../errors/codesign-error.ts';
import { systemReason } from '../errors/system-reason.ts';
import { signingErrors } from './errors.ts';
import { inFileSystem, whenFree } from './file-system-errors.ts';
import type { SigningEvent } from './outcome.ts';
import { assertRoom, COPY, flushFolder, readFully, takeOwnerAndMode, writeFully } from './temporary-file.ts';

const FLUSH = 'flush the temporary file to the disk';

export interface StagedCopy extends AsyncDisposable {
  /** Measures the original, and in the same pass writes the copy and compares it with what the disk gives back. */
  readonly measure: MeasureContent;
  /** Turns the copy into the original with `patch` applied; a later call replaces an earlier patch. */
  apply(patch: Patch): Promise<void>;
  /** Asks the disk to keep what has been written. */
  flush(): Promise<void>;
  /**
   * The copy as it now stands. Its `measure` does not digest again what is known to be the original's bytes, compared
   * one by one when they were written: it goes on from there with what was added.
   */
  reopen(): { readonly source: ByteSource; readonly measure: MeasureContent };
  /** Gives the copy what the original has, as far as this user may. */
  takeOwnerAndMode(): Promise<void>;
  /**
   * Renames the copy onto the target, whole or not at all, and flushes the folder. What fails after the rename is told
   * as warnings: the file is in place.
   */
  replaceTarget(): Promise<readonly string[]>;
}

export interface StagedCopyOptions {
  readonly source: ByteSource;
  /** Of the original, whose owner and mode the result shall have. */
  readonly stats: BigIntStats;
  /** Where the result goes; its folder, made where it is missing, takes the temporary file. */
  readonly target: string;
  /** Makes the name of the temporary file unlike any other. */
  readonly randomName: () => string;
  /** Holds the temporary file's path for as long as it is there. */
  readonly temporaryFiles: Set<string>;
  readonly onEvent: (event: SigningEvent) => void;
}

/** Creates the temporary file. Disposing removes it unless it has been renamed. */
export async function stageCopy(options: StagedCopyOptions): Promise<StagedCopy> {
  const { source, stats, target, temporaryFiles } = options;
  const folder = dirname(target);
  const path = join(folder, `.codesign-remote-${options.randomName()}.tmp`);
  await inFileSystem(`make the folder ${folder}`, () => mkdir(folder, { recursive: true }));
  await assertRoom(folder, source.size);
  const handle = await whenFree(`create a file in ${folder}`, () => open(path, 'wx+', 0o600));
  temporaryFiles.add(path);

  /** Size of the copy as it stands. */
  let size = 0;
  /** What the copy is: the original with these edits made in place; undefined when it is anything else. */
  let applied: Patch | undefined;
  let measured: { readonly content: Content; readonly measuring: Measuring } | undefined;
  let flushFault: { readonly thrown: unknown } | undefined;
  let renamed = false;

  async function write(bytes: Uint8Array, offset: number): Promise<void> {
    await inFileSystem(COPY, () => writeFully(handle, bytes, offset));
  }

  async function writeAndCompare(chunk: Uint8Array, offset: number, scratch: Uint8Array): Promise<void> {
    await write(chunk, offset);
    const back = scratch.subarray(0, chunk.length);
    await inFileSystem('read back the temporary file', () => readFully(handle, back, offset));
    if (Buffer.compare(back, chunk) !== 0) throw signingErrors('copy-differs');
  }

  async function measureWhileCopying(
    _original: ByteSource,
    content: Content,
    measures: readonly Measure[],
  ): Promise<Measurement> {
    const measuring = startMeasuring(content, measures);
    let scratch = new Uint8Array();
    size = 0;
    for await (const chunk of source.stream()) {
      if (scratch.length < chunk.length) scratch = new Uint8Array(chunk.length);
      // Started before the digest and awaited after it: writing and reading run in the thread pool meanwhile.
      const copying = writeAndCompare(chunk, size, scratch);
      try {
        measuring.update(chunk, size);
      } finally {
        await copying;
      }
      size += chunk.length;
    }
    applied = [];
    measured = { content, measuring };
    return measuring.finish();
  }

  async function applyInPlace(patch: Patch): Promise<void> {
    for (const edit of patch) await write(edit.insert, edit.offset);
    const last = patch.at(-1);
    await setSize(last && reachesEnd(last, source.size) ? last.offset + last.insert.length : source.size);
    applied = patch;
  }

  /** From the original again, for edits that move what follows them. */
  async function rewrite(patch: Patch): Promise<void> {
    applied = undefined;
    let position = 0;
    let read = 0;
    const copyUpTo = async (end: number): Promise<void> => {
      for await (const chunk of source.stream(read, end)) {
        await write(chunk, position);
        position += chunk.length;
      }
    };
    for (const edit of patch) {
      await copyUpTo(edit.offset);
      await write(edit.insert, position);
      position += edit.insert.length;
      read = edit.offset + edit.remove;
    }
    await copyUpTo(source.size);
    await setSize(position);
  }

  async function setSize(wanted: number): Promise<void> {
    size = wanted;
    await inFileSystem(COPY, () => handle.truncate(wanted));
  }

  async function flush(): Promise<void> {
    // The system tells a failed write-back once and forgets it: so that no later flush can pass for a good one, it is kept.
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
    flush,

    async apply(patch) {
      const canFollow = applied !== undefined && keepsPositions(patch, source.size) && coversRegions(patch, applied);
      await (canFollow ? applyInPlace(patch) : rewrite(patch));
    },

    reopen() {
      const reopened = fileSource(handle, size);
      const known = measured && applied && leavesAlone(applied, measured.content) ? measured : undefined;
      const measure: MeasureContent = async (asked, content, measures) => {
        const measuring = asked === reopened ? known?.measuring.continueWith(content, measures) : undefined;
        if (known === undefined || measuring === undefined) return measureContent(asked, content, measures);
        let offset = endOf(known.content);
        for await (const chunk of asked.stream(offset, endOf(content))) {
          measuring.update(chunk, offset);
          offset += chunk.length;
        }
        return measuring.finish();
      };
      return { source: reopened, measure };
    },

    takeOwnerAndMode: () =>
      inFileSystem('set owner and mode of the temporary file', () => takeOwnerAndMode(handle, stats)),

    async replaceTarget() {
      await whenFree('put the signed file in place', () => rename(path, target));
      renamed = true;
      temporaryFiles.delete(path);
      return flushFolder(folder).then(
        () => [],
        (thrown: unknown) => [`The folder could not be flushed to the disk (${systemReason(thrown)}).`],
      );
    },

    // Never throws: that would hide what the work itself threw. All that was written has been flushed or is given up.
    async [Symbol.asyncDispose]() {
      await handle.close().catch(() => undefined);
      if (!renamed) await removeTemporaryFile(path, options);
    },
  };
}

async function removeTemporaryFile(path: string, { temporaryFiles, onEvent }: StagedCopyOptions): Promise<void> {
  try {
    await whenFree('remove the temporary file', () => unlink(path));
  } catch (thrown) {
    const error = toCodesignError(thrown);
    // Somebody was faster.
    if (error.code !== 'file-not-found') onEvent({ type: 'temporary-file-left', path, error });
  }
  temporaryFiles.delete(path);
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
function coversRegions(next: Patch, before: Patch): boolean {
  return before.every((edit, index) => edit.offset === next[index]?.offset && edit.remove === next[index].remove);
}

/** Whether no edit touches the content; what is added behind its end is not part of it. */
function leavesAlone(patch: Patch, { ranges }: Content): boolean {
  return patch.every((edit) =>
    ranges.every(({ start, end }) => edit.offset >= end || edit.offset + edit.remove <= start),
  );
}

function endOf({ ranges }: Content): number {
  return ranges.at(-1)?.end ?? 0;
}
