import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsync,
  ftruncateSync,
  openSync,
  readSync,
  type StatsFs,
  statfsSync,
  writeSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { type ByteSource, checkRange, memorySource } from './byte-source.ts';
import { bytesErrors } from './errors.ts';

export interface OpenedFile {
  readonly fd: number;
  read(into: Uint8Array, at: number, length: number, position: number): Promise<{ readonly bytesRead: number }>;
  write(from: Uint8Array, at: number, length: number, position: number): Promise<{ readonly bytesWritten: number }>;
  sync(): Promise<void>;
  truncate(size: number): Promise<void>;
  chmod(mode: number): Promise<void>;
  chown(uid: number, gid: number): Promise<void>;
  close(): Promise<void>;
}

/** Node's thread pool would take longer for small local files. */
export const LARGEST_DIRECT = 128 * 1024;

/** Numbers in statfs(2) of ext2 to ext4, XFS, Btrfs, tmpfs, overlayfs, ZFS, F2FS, FAT and exFAT. */
const LOCAL_FILE_SYSTEMS: ReadonlySet<number> = new Set([
  ...[0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1, 0xf2f52010, 0x4d44, 0x2011bab0],
]);

/** Returns false if other machines may use the file system too. */
export function isKnownLocal(path: string): boolean {
  return isLocal(statfsSync(path));
}

/** Asks the operating system once for each disk. `dev` identifies a disk while it is mounted. */
export function localDisks(): (path: string, stats: { readonly dev: number }) => boolean {
  const known = new Map<number, boolean>();
  return (path, { dev }) => {
    const isLocalDisk = known.get(dev) ?? isKnownLocal(path);
    known.set(dev, isLocalDisk);
    return isLocalDisk;
  };
}

export function isLocal({ type }: Pick<StatsFs, 'type'>): boolean {
  return LOCAL_FILE_SYSTEMS.has(type);
}

const flushInPool = promisify(fsync);

/** Opens a small file on a local file system. Only flushes run in the thread pool, because they wait for the disk. */
export function openDirectly(path: string, flags: string | number, mode?: number): OpenedFile {
  const fd = openSync(path, flags, mode);
  let flushing: Promise<unknown> = Promise.resolve();
  let isOpen = true;
  return {
    fd,
    read: async (into, at, length, position) => ({ bytesRead: readSync(fd, into, at, length, position) }),
    write: async (from, at, length, position) => ({ bytesWritten: writeSync(fd, from, at, length, position) }),
    sync(): Promise<void> {
      const flushed = flushInPool(fd);
      flushing = flushed.catch(() => undefined);
      return flushed;
    },
    truncate: async (size) => ftruncateSync(fd, size),
    chmod: async (mode) => fchmodSync(fd, mode),
    chown: async (uid, gid) => fchownSync(fd, uid, gid),
    async close() {
      // Another file may get the same descriptor number after this file is closed.
      await flushing;
      if (!isOpen) return;
      isOpen = false;
      closeSync(fd);
    },
  };
}

type ReadableFile = Pick<OpenedFile, 'read'>;

/** Chunks of this size need few system calls, and little memory even for several files. */
const CHUNK_LENGTH = 1024 * 1024;
/** Headers are read field by field. A system call for each field would take longer than parsing. */
const WINDOW_LENGTH = 4096;

interface Window {
  readonly start: number;
  readonly end: number;
  readonly bytes: Promise<Buffer>;
}

export async function wholeSource(file: ReadableFile, size: number): Promise<ByteSource> {
  return memorySource(await readChunk(file, Buffer.allocUnsafeSlow(size), 0, size));
}

/** Does not close `file`, which must not change. Throws `file-shrunk` if the file is shorter than `size`. */
export function fileSource(file: ReadableFile, size: number): ByteSource {
  let window: Window | undefined;

  function windowWith(offset: number, length: number): Window {
    if (window !== undefined && window.start <= offset && offset + length <= window.end) return window;
    const even = offset - (offset % WINDOW_LENGTH);
    const start = offset + length <= even + WINDOW_LENGTH ? even : offset;
    const end = Math.min(start + WINDOW_LENGTH, size);
    const bytes = watched(readChunk(file, Buffer.allocUnsafe(end - start), start, end));
    window = { start, end, bytes };
    return window;
  }

  return {
    size,
    async read(offset, length, scratch) {
      checkRange('file', offset, length, size);
      if (scratch === undefined && length <= WINDOW_LENGTH) {
        const { start, bytes } = windowWith(offset, length);
        return Buffer.from((await bytes).subarray(offset - start, offset - start + length));
      }
      const isEnough = scratch !== undefined && scratch.length >= length;
      const buffer = isEnough ? scratch.subarray(0, length) : Buffer.allocUnsafeSlow(length);
      await fill(file, buffer, offset);
      return buffer;
    },
    stream(start = 0, end = size) {
      return readAhead(file, start, Math.min(end, size));
    },
  };
}

/** The caller uses one buffer while the next chunk is read into another buffer. */
async function* readAhead(file: ReadableFile, start: number, end: number): AsyncGenerator<Uint8Array> {
  const length = Math.min(CHUNK_LENGTH, Math.max(end - start, 0));
  if (length === 0) return;
  const first = Buffer.allocUnsafeSlow(length);
  const second = end - start > length ? Buffer.allocUnsafeSlow(length) : first;

  let offset = start;
  let spare = second;
  let pending = watched(readChunk(file, first, offset, end));
  try {
    while (offset < end) {
      const chunk = await pending;
      offset += chunk.length;
      if (offset < end) {
        pending = watched(readChunk(file, spare, offset, end));
        spare = spare === second ? first : second;
      }
      yield chunk;
    }
  } finally {
    // If the caller stops early, it closes the handle next, so no read may be in progress on the handle.
    await pending.catch(() => undefined);
  }
}

/** Prevents an unhandled rejection. A caller that awaits the promise later still gets the error. */
function watched<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

async function readChunk(file: ReadableFile, buffer: Buffer, offset: number, end: number): Promise<Buffer> {
  const chunk = buffer.subarray(0, Math.min(buffer.length, end - offset));
  await fill(file, chunk, offset);
  return chunk;
}

async function fill(file: ReadableFile, buffer: Buffer, offset: number): Promise<void> {
  for (let done = 0; done < buffer.length; ) {
    const { bytesRead } = await file.read(buffer, done, buffer.length - done, offset + done);
    if (bytesRead === 0) throw bytesErrors('file-shrunk', { length: buffer.length, offset });
    done += bytesRead;
  }
}
