import { closeSync, fchmodSync, fchownSync, fsync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';

/** What this program does with an open file: with a handle of Node.js, or with `openDirectly`. */
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

/**
 * Up to this size, files of a local file system are read and written without a wait: the system's memory answers, and each
 * request to Node's thread pool takes longer than that. In bytes.
 */
export const LARGEST_DIRECT = 128 * 1024;

const flushInPool = promisify(fsync);

/** Opens a small file of a local file system. Only a flush waits for the disk, and does so in the thread pool. */
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
      // The number may be that of another file next.
      await flushing;
      if (!isOpen) return;
      isOpen = false;
      closeSync(fd);
    },
  };
}
