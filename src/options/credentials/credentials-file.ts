/** Stores credentials without a keychain: in a file that only its user can read. */

import { randomUUID } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as v from 'valibot';
import { flushFolder, makeFolders } from '../../bytes/folders.ts';
import { readHandleUpTo } from '../../bytes/read-file.ts';
import { hasCode, systemReason } from '../../errors/system-reason.ts';
import { settingsErrors } from '../errors.ts';
import { type Account, accountName, entryOf, entrySchema, parseJson, type StoredCredentials } from './keychain.ts';

type Entries = Readonly<Record<string, StoredCredentials>>;

const LARGEST_FILE = 1024 * 1024;
const OPEN_TO_OTHERS = 0o077;
/** Windows has neither flag. Without O_NONBLOCK, opening a named pipe would wait for a writer. */
const CAREFULLY = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

const fileSchema = v.record(v.string(), entrySchema);

export async function readFileEntry(path: string, account: Account): Promise<StoredCredentials | undefined> {
  const entries = await readEntries(path);
  const name = accountName(account);
  return Object.hasOwn(entries, name) ? entries[name] : undefined;
}

export async function writeFileEntry(path: string, account: Account, credentials: StoredCredentials): Promise<void> {
  await writeEntries(path, { ...(await readEntries(path)), [accountName(account)]: credentials });
}

/** Returns false if the file contained no credentials for the account. */
export async function removeFileEntry(path: string, account: Account): Promise<boolean> {
  const name = accountName(account);
  const entries = await readEntries(path);
  if (!Object.hasOwn(entries, name)) return false;
  const { [name]: _removed, ...others } = entries;
  await writeEntries(path, others);
  return true;
}

/** Errors never quote the content of the file. */
async function readEntries(path: string): Promise<Entries> {
  const text = await readPrivate(path);
  if (text === undefined) return {};
  const parsed = v.safeParse(fileSchema, parseJson(text));
  if (parsed.success) return parsed.output;
  throw settingsErrors('settings-file-damaged', { path, problem: 'was not written by codesign-remote login' });
}

async function readPrivate(path: string): Promise<string | undefined> {
  try {
    // The checks use the same descriptor, because the file at the path may be replaced in between.
    await using file = await open(path, constants.O_RDONLY | CAREFULLY);
    const problem = exposure(await file.stat());
    if (problem !== undefined) throw settingsErrors('credentials-file-exposed', { path, problem });
    return `${await readHandleUpTo(file, LARGEST_FILE)}`;
  } catch (cause) {
    if (hasCode(cause, 'ENOENT', 'ENOTDIR')) return undefined;
    if (hasCode(cause, 'ELOOP'))
      throw settingsErrors('credentials-file-exposed', { path, problem: 'is a symbolic link' });
    if (hasCode(cause, 'credentials-file-exposed')) throw cause;
    throw settingsErrors('settings-file-unreadable', { path, reason: systemReason(cause) }, { cause });
  }
}

function exposure(stats: Stats): string | undefined {
  if (!stats.isFile()) return 'is not a file';
  const user = process.geteuid?.();
  // On Windows, files have no numeric owner and no permission bits: the file inherits the access control list of its
  // folder.
  if (user === undefined) return undefined;
  // Root may use the credentials of the user who started the program with sudo.
  if (stats.uid !== user && user !== 0) return 'belongs to another user';
  return (stats.mode & OPEN_TO_OTHERS) === 0 ? undefined : 'can be read or changed by other users';
}

/** If no credentials are left, the file is removed. */
async function writeEntries(path: string, entries: Entries): Promise<void> {
  const folder = dirname(path);
  const temporary = `${path}.${randomUUID()}`;
  try {
    if (Object.keys(entries).length === 0) return await rm(path, { force: true });
    await makeFolders(folder, 0o700);
    const stored = Object.fromEntries(Object.entries(entries).map(([name, one]) => [name, entryOf(one)]));
    await writePrivate(temporary, `${JSON.stringify(stored, undefined, 2)}\n`);
    await rename(temporary, path);
    await flushFolder(folder);
  } catch (cause) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw settingsErrors('settings-file-unwritable', { path, reason: systemReason(cause) }, { cause });
  }
}

async function writePrivate(path: string, text: string): Promise<void> {
  await using file = await open(path, 'wx', 0o600);
  await file.writeFile(text);
  await file.sync();
}
