/** The journal's files and folders: made for their owner alone, appended to by whole lines, flushed, read up to a bound. */

import {
  closeSync,
  constants,
  fchownSync,
  fdatasync,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { chown, open, rename, unlink } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeFolders } from '../bytes/make-folders.ts';

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** The file of a call has a few lines for each file that shares its signature. */
const LARGEST_CALL_FILE = 16 * 1024 * 1024;

const NEWLINE = 0x0a;
const LINE_END = Buffer.from([NEWLINE]);
const NOTHING = Buffer.alloc(0);

const APPEND_ATTEMPTS = 5;

/** Every write goes to the end, wherever another process has moved that meanwhile: lines are never mixed. */
const READ_AND_APPEND = constants.O_RDWR | constants.O_APPEND;

/** Who shall own what is made: root leaves nothing behind in another user's folder that this user could not use. */
export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

export interface LinesFile extends AsyncDisposable {
  /** All of it, from this very file, even if its name is another's by now. What is known of it is not read again. */
  read(): Promise<Uint8Array>;
  /** At its end, in this order. */
  append(lines: readonly string[]): Promise<void>;
  /** To the disk. */
  flush(): Promise<void>;
}

export type Making = 'must-exist' | 'may-exist' | 'must-not-exist';

/** Undefined when the file is not there, or is there although it must not. */
export async function openLines(
  path: string,
  making: Making,
  owner: Owner | undefined,
): Promise<LinesFile | undefined> {
  const create = making === 'must-exist' ? 0 : constants.O_CREAT;
  const exclusive = making === 'must-not-exist' ? constants.O_EXCL : 0;
  const unwelcome = making === 'must-not-exist' ? 'EEXIST' : 'ENOENT';
  const fd = await unless(unwelcome, async () => openSync(path, READ_AND_APPEND | create | exclusive, FILE_MODE));
  if (fd === undefined) return undefined;
  try {
    if (making !== 'must-exist' && owner !== undefined) fchownSync(fd, owner.uid, owner.gid);
    return linesFile(fd, making === 'must-not-exist');
  } catch (thrown) {
    closeSync(fd);
    throw thrown;
  }
}

/** All of it, without the right to write; undefined when it is not there. */
export async function readLines(path: string): Promise<Uint8Array | undefined> {
  const fd = await unless('ENOENT', async () => openSync(path, constants.O_RDONLY));
  if (fd === undefined) return undefined;
  try {
    return readAll(fd);
  } finally {
    closeSync(fd);
  }
}

function readAll(fd: number): Uint8Array {
  const size = sizeOf(fd);
  assertNotTooLarge(size);
  return readFrom(fd, 0, size);
}

function linesFile(descriptor: number, isNew: boolean): LinesFile {
  let isClosed = false;
  let flushing: Promise<unknown> = Promise.resolve();

  /** The number of a file that was closed may be another file's by now. */
  function file(): number {
    if (isClosed) throw Object.assign(new Error('the file was closed'), { code: 'EBADF' });
    return descriptor;
  }

  /** From its beginning, as far as it has been read. Undefined for one that is only appended to: a history is large. */
  let known: Buffer | undefined = isNew ? NOTHING : undefined;

  /** The end of the file when the lines were appended begins here, with what was the last byte before them. */
  function learn(tail: Buffer, start: number): void {
    if (known !== undefined && known.length >= start) known = Buffer.concat([known.subarray(0, start), tail]);
    else known = undefined;
  }

  return {
    async read() {
      const fd = file();
      const size = sizeOf(fd);
      assertNotTooLarge(size);
      const before = known !== undefined && known.length <= size ? known : NOTHING;
      known = Buffer.concat([before, readFrom(fd, before.length, size - before.length)]);
      return known;
    },
    async append(lines) {
      let missing: readonly Buffer[] = lines.map((line) => Buffer.from(line));
      for (let attempt = 1; attempt <= APPEND_ATTEMPTS; attempt++) {
        missing = appendOnce(file(), missing, learn);
        if (missing.length === 0) return;
      }
      throw Object.assign(new Error('what was appended is not there'), { code: 'EIO' });
    },
    async flush() {
      const flushed = flushData(file());
      flushing = flushed.catch(() => undefined);
      await flushed;
    },
    async [Symbol.asyncDispose]() {
      if (isClosed) return;
      isClosed = true;
      await flushing;
      closeSync(descriptor);
    },
  };
}

/**
 * Gives the lines that did not become lines of their own: another process was stopped inside a line of its own meanwhile,
 * or this is a network's file system, on which one end of the file can be taken for another.
 */
function appendOnce(
  fd: number,
  lines: readonly Buffer[],
  learn: (tail: Buffer, start: number) => void,
): readonly Buffer[] {
  const size = sizeOf(fd);
  const before = Math.max(0, size - 1);
  // A torn line before these must not take the first along.
  const isInsideLine = size > 0 && readFrom(fd, before, 1)[0] !== NEWLINE;
  const bytes = Buffer.concat(isInsideLine ? [LINE_END, ...lines] : lines);
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(fd, bytes, done, bytes.length - done);
  }
  const tail = readFrom(fd, before, sizeOf(fd) - before);
  learn(tail, before);
  return lines.filter((line) => !isLineIn(tail, line, before === 0));
}

function isLineIn(tail: Buffer, line: Buffer, isWhole: boolean): boolean {
  const at = tail.indexOf(line);
  return (at === 0 && isWhole) || (at > 0 && tail[at - 1] === NEWLINE);
}

function assertNotTooLarge(size: number): void {
  if (size > LARGEST_CALL_FILE) throw Object.assign(new Error('too large for a call'), { code: 'EFBIG' });
}

/**
 * All but this is asked of the system directly: the journal's files are small, what is read was just written, and it is
 * hardly ever on another machine's disk, so the system answers out of memory. Through Node's thread pool each call would take
 * ten times as long, and that is most of what a step of the journal costs. A flush waits for the disk, and so it goes there.
 */
function flushData(fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fdatasync(fd, (failure) => (failure ? reject(failure) : resolve()));
  });
}

function sizeOf(fd: number): number {
  return fstatSync(fd).size;
}

function readFrom(fd: number, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(Math.max(0, length));
  let done = 0;
  for (let read = -1; read !== 0 && done < length; done += read) {
    read = readSync(fd, bytes, done, length - done, position + done);
  }
  return bytes.subarray(0, done);
}

/** Makes the name of a new file durable. Windows has no handle for that, and some file systems refuse it. */
export async function flushFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } catch (thrown) {
    if (!hasCode(thrown, 'EINVAL', 'ENOTSUP')) throw thrown;
  } finally {
    await handle.close();
  }
}

/** With the folders above it. */
export async function makeFolder(path: string, owner?: Owner): Promise<void> {
  const isNew = await makeFolders(path, FOLDER_MODE);
  if (isNew && owner !== undefined) await chown(path, owner.uid, owner.gid);
}

/** Names in a folder; none when it is not there. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  return (await unless('ENOENT', async () => readdirSync(folder))) ?? [];
}

export async function moveFile(from: string, to: string): Promise<void> {
  await patiently(() => rename(from, to));
}

/** One that is not there is fine. */
export async function removeFile(path: string): Promise<void> {
  await unless('ENOENT', () => patiently(() => unlink(path)));
}

/** For a process that is about to end. A file that is not there is an error. */
export function removeFileNow(path: string): void {
  unlinkSync(path);
}

export async function unless<T>(code: string, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (thrown) {
    if (hasCode(thrown, code)) return undefined;
    throw thrown;
  }
}

export function hasCode(thrown: unknown, ...codes: readonly string[]): boolean {
  return thrown instanceof Error && 'code' in thrown && codes.includes(String(thrown.code));
}

const WAITS_MILLISECONDS = [5, 20, 50, 100, 250];

/** Windows refuses to move or remove what a virus scanner, or another process, is reading just now. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (const wait of process.platform === 'win32' ? WAITS_MILLISECONDS : []) {
    try {
      return await work();
    } catch (thrown) {
      if (!hasCode(thrown, 'EPERM', 'EACCES', 'EBUSY')) throw thrown;
      await sleep(wait);
    }
  }
  return work();
}
