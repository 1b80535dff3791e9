/**
 * Proof that the temporary file holds the original with a patch applied, and that no other program has written to it since.
 *
 * Its bytes are compared once. From then on the proof is a time of last change that this process sets, in whole seconds and
 * in the past: each later write by another program replaces it by the current time, however coarse the clock of the file
 * system is. That holds for writes through a memory map too, because the file is flushed after the time is set: the next
 * such write sets the time again. Not seen are writes through a memory map on a tmpfs, which sets no time for them, and
 * in files that are not compared again whole, a write of another program while this one puts in the signature.
 */

import { type BigIntStats, fstatSync, futimesSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { ByteSource } from '../../bytes/byte-source.ts';
import { type Patch, patchedPieces } from '../../bytes/patch.ts';
import { readPieces } from '../../bytes/pieces.ts';
import { inFileSystem } from '../../files/file-system-errors.ts';
import { signingErrors } from '../errors.ts';
import { insertedBytes } from './patch-geometry.ts';
import { readBack } from './temporary-file.ts';

/** What the system says of a file, as far as it changes with the file's bytes. */
interface Mark extends Pick<BigIntStats, 'size' | 'mtimeNs' | 'ctimeNs'> {
  /** Whether the file system took the time that was set. */
  readonly isSet: boolean;
}

/** Bytes up to which a file is compared whole each time: it takes milliseconds. */
export const SOON_COMPARED = 8 * 1024 * 1024;

/** Bytes that are read for one comparison. */
const WINDOW = 1024 * 1024;

/** Far enough in the past for file systems that keep two seconds, and near enough not to look like a file left behind. */
const SECONDS_BACK = 10;

interface CopyToProve {
  readonly handle: FileHandle;
  readonly original: ByteSource;
  /** The file system has made the file a clone of the original just now. */
  readonly isClone: boolean;
  readonly flush: () => Promise<void>;
}

export function proveCopy({ handle, original, isClone, flush }: CopyToProve) {
  let patch: Patch = [];
  /** Whether all bytes but those that the patch inserts were proven before, or are the clone's. */
  let isKept = isClone;
  /** The file after the last change of this process. */
  let left = isClone ? setMark(handle) : undefined;
  let isProven = isClone;

  const isAsLeft = (): boolean => left !== undefined && isAsMarked(handle, left);
  const isUntouched = (): boolean => left?.isSet === true && isAsLeft();
  const holds = (): Promise<boolean> =>
    isKept && original.size > SOON_COMPARED
      ? holdsInsertedBytes(handle, patch, original.size)
      : holdsAll(handle, original, patch);

  return {
    /** Whether all bytes have been proven, and no program has written since. */
    stands: (): boolean => isProven && isUntouched(),

    /**
     * Has this process write the patch. `keeps`: the proof stood, and of the bytes that it covers only those that the patch
     * inserts are written.
     */
    async writing(next: Patch, keeps: boolean, write: () => Promise<void>): Promise<void> {
      patch = next;
      isKept = keeps;
      left = undefined;
      isProven = false;
      await write();
      left = setMark(handle);
    },

    /** Has this process change owner and mode. */
    async keeping(change: () => Promise<void>): Promise<void> {
      const wasUntouched = isUntouched();
      await change();
      left = wasUntouched ? setMark(handle) : undefined;
    },

    /** Flushes the file, and compares it with what it must hold. Throws `copy-changed`. */
    async prove(): Promise<void> {
      if (!isUntouched()) {
        isKept = false;
        left = setMark(handle);
      }
      await flush();
      const isRight = await inFileSystem('read back the temporary file', holds);
      if (!isRight || !isAsLeft()) throw signingErrors('copy-changed');
      isKept = true;
      isProven = true;
    },

    /** Throws `copy-changed` unless the file is as it was proven, and gives the finished file the current time. */
    finish(): void {
      if (!isProven || !isAsLeft()) throw signingErrors('copy-changed');
      setTime(handle, Date.now() / 1000);
    },
  };
}

/** Seconds since 1970; even, as a FAT file system keeps them. */
function timeBack(): number {
  return (Math.floor(Date.now() / 2000) - SECONDS_BACK / 2) * 2;
}

/** Gives the time, in seconds since 1970; undefined where the file system does not let it be set. */
function setTime({ fd }: FileHandle, seconds: number): number | undefined {
  try {
    futimesSync(fd, seconds, seconds);
    return seconds;
  } catch {
    // Then the proof never stands for longer than one comparison.
    return undefined;
  }
}

/** Sets a time in the past, and gives what the system says of the file then. */
function setMark(handle: FileHandle): Mark {
  const seconds = setTime(handle, timeBack());
  const { size, mtimeNs, ctimeNs } = fstatSync(handle.fd, { bigint: true });
  return { size, mtimeNs, ctimeNs, isSet: seconds !== undefined && mtimeNs === BigInt(seconds) * 1_000_000_000n };
}

function isAsMarked({ fd }: FileHandle, { size, mtimeNs, ctimeNs }: Mark): boolean {
  const now = fstatSync(fd, { bigint: true });
  return now.size === size && now.mtimeNs === mtimeNs && now.ctimeNs === ctimeNs;
}

/** Whether the file holds the original with the patch applied, and no more. The original is read whole. */
async function holdsAll(handle: FileHandle, original: ByteSource, patch: Patch): Promise<boolean> {
  const isAt = comparingWith(handle);
  let position = 0;
  for await (const expected of readPieces(original, patchedPieces(patch, original.size))) {
    if (!(await isAt(position, expected))) return false;
    position += expected.length;
  }
  return fstatSync(handle.fd).size === position;
}

async function holdsInsertedBytes(handle: FileHandle, patch: Patch, size: number): Promise<boolean> {
  const isAt = comparingWith(handle);
  for (const { position, bytes } of insertedBytes(patch, size)) {
    if (!(await isAt(position, bytes))) return false;
  }
  return true;
}

function comparingWith(handle: FileHandle): (position: number, expected: Uint8Array) => Promise<boolean> {
  let scratch = new Uint8Array();
  return async (position, expected) => {
    // As long as needed: for each of many small files, a whole window would have to be cleared, and collected as garbage.
    const needed = Math.min(expected.length, WINDOW);
    if (scratch.length < needed) scratch = new Uint8Array(needed);
    for (let done = 0; done < expected.length; done += WINDOW) {
      const piece = expected.subarray(done, done + WINDOW);
      const found = scratch.subarray(0, piece.length);
      if (!(await readBack(handle, found, position + done)) || Buffer.compare(found, piece) !== 0) return false;
    }
    return true;
  };
}
