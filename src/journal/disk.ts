/** The journal's files and folders: made for this user alone, reached without following a link, flushed. */

import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, type Stats, unlinkSync } from 'node:fs';
import { mkdir, rename, rmdir, unlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { flushFolder, makeFolders } from '../bytes/folders.ts';
import { hasCode, unless } from '../errors/system-reason.ts';
import { type LinesFile, linesFile, readAll } from './lines.ts';
import { assertOwned, assertOwnLinks, enterFolder, type OwnFolder, refusal } from './own-folder.ts';

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** Every write goes to the end, wherever another process has moved that meanwhile: lines are never mixed. */
const READ_AND_APPEND = constants.O_RDWR | constants.O_APPEND;
const NEW_FILE = READ_AND_APPEND | constants.O_CREAT | constants.O_EXCL;
/** No link is followed, and a pipe is not waited for. Windows has no such flags. */
const FILE_ITSELF = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
/** Each turn is lost to a process that has just made the file, or just removed it. */
const MOST_TURNS = 5;
const IS_NO_FILE = 'is a link or not a file';

export type Making = 'must-exist' | 'may-exist' | 'must-not-exist';

export type Disk = ReturnType<typeof openDisk>;

/**
 * All paths are those of the journal's folder, or below it. Everything throws what the system throws, and `refusal`.
 *
 * @param root the journal's folder, which need not be there
 */
export function openDisk(root: string) {
  let areLinksOwn = false;

  function enter(folder: string): OwnFolder {
    if (!areLinksOwn) assertOwnLinks(root);
    areLinksOwn = true;
    return enterFolder(root, folder);
  }

  /** The work gets a path that leads into the very folder of the file. */
  async function inFolder<T>(path: string, work: (inside: string) => T | Promise<T>): Promise<T> {
    using folder = enter(dirname(path));
    return await work(join(folder.path, basename(path)));
  }

  const openIn = (path: string, flags: number): Promise<number> =>
    inFolder(path, (inside) => openFile(inside, flags, path));

  async function openOrMake(path: string): Promise<number> {
    for (let turn = 1; ; turn++) {
      const made = await unless('EEXIST', () => openIn(path, NEW_FILE));
      const fd = made ?? (await unless(turn < MOST_TURNS ? 'ENOENT' : '', () => openIn(path, READ_AND_APPEND)));
      if (fd !== undefined) return fd;
    }
  }

  return {
    /** Undefined when the file is not there, or is there although it must not. */
    async openLines(path: string, making: Making): Promise<LinesFile | undefined> {
      if (making === 'may-exist') return linesFile(await openOrMake(path));
      const isNew = making === 'must-not-exist';
      const unwelcome = isNew ? 'EEXIST' : 'ENOENT';
      const fd = await unless(unwelcome, () => openIn(path, isNew ? NEW_FILE : READ_AND_APPEND));
      return fd === undefined ? undefined : linesFile(fd);
    },

    /** An empty file, unless the file is there. */
    async makeEmpty(path: string): Promise<void> {
      closeSync(await openOrMake(path));
    },

    /** All of it, without the right to write; undefined when it is not there. */
    async readLines(path: string): Promise<Uint8Array | undefined> {
      const fd = await unless('ENOENT', () => openIn(path, constants.O_RDONLY));
      if (fd === undefined) return undefined;
      try {
        return readAll(fd);
      } finally {
        closeSync(fd);
      }
    },

    /** Gives a descriptor. Throws ENOENT when it is not there. */
    openToRead: (path: string) => openIn(path, constants.O_RDONLY),

    /** Size in bytes; undefined when it is not there. */
    async sizeOf(path: string): Promise<number | undefined> {
      const stats = await unless('ENOENT', () => inFolder(path, (inside) => lstatSync(inside)));
      if (stats !== undefined) assertFile(path, stats);
      return stats?.size;
    },

    /** A new file, on the disk when the promise resolves. */
    writeNew: (path: string, content: Uint8Array) =>
      inFolder(path, (inside) => writeFile(inside, content, { flag: 'wx', mode: FILE_MODE, flush: true })),

    /** One that is not there is fine. */
    async removeFile(path: string): Promise<void> {
      await unless('ENOENT', () => inFolder(path, (inside) => patiently(() => unlink(inside))));
    },

    /** For a process that is about to end. A file that is not there is an error. */
    removeFileNow(path: string): void {
      using folder = enter(dirname(path));
      unlinkSync(join(folder.path, basename(path)));
    },

    moveFile: (from: string, to: string) =>
      inFolder(from, (inside) => inFolder(to, (target) => patiently(() => rename(inside, target)))),

    /** Names in a folder; none when it is not there. */
    async namesIn(folder: string): Promise<readonly string[]> {
      const names = await unless('ENOENT', async () => {
        using entered = enter(folder);
        return readdirSync(entered.path);
      });
      return names ?? [];
    },

    /** With the folders above it. */
    async makeFolder(folder: string): Promise<void> {
      await makeFolders(root, FOLDER_MODE);
      let path = root;
      for (const name of relative(root, folder).split(sep)) {
        path = join(path, name);
        if (name !== '') await inFolder(path, makeOne);
      }
      enter(folder)[Symbol.dispose]();
    },

    /** One that is not there is fine. */
    async removeFolder(folder: string): Promise<void> {
      await unless('ENOENT', () => inFolder(folder, (inside) => rmdir(inside)));
    },

    /** Makes the name of a new file durable. */
    async flushFolder(folder: string): Promise<void> {
      using entered = enter(folder);
      await flushFolder(entered.path);
    },
  };
}

/** `shown`: its path for people. */
function openFile(path: string, flags: number, shown: string): number {
  if (process.platform === 'win32') assertNoLink(path, shown);
  let fd: number;
  try {
    fd = openSync(path, flags | FILE_ITSELF, FILE_MODE);
  } catch (thrown) {
    // FreeBSD says EMLINK.
    throw hasCode(thrown, 'ELOOP', 'EMLINK') ? refusal(shown, IS_NO_FILE) : thrown;
  }
  try {
    assertFile(shown, fstatSync(fd));
    return fd;
  } catch (thrown) {
    closeSync(fd);
    throw thrown;
  }
}

function assertNoLink(path: string, shown: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) throw refusal(shown, IS_NO_FILE);
}

function assertFile(shown: string, stats: Stats): void {
  if (!stats.isFile()) throw refusal(shown, IS_NO_FILE);
  assertOwned(shown, stats);
}

async function makeOne(path: string): Promise<void> {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return;
  await unless('EEXIST', () => mkdir(path, { mode: FOLDER_MODE }));
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
