/** Opens what a data folder holds: the store and the HSM's keys. */

import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { serverError } from '../errors.ts';
import type { KeyStore } from '../keys/key-store.ts';
import { openPkcs11, type TokenOptions } from '../keys/pkcs11.ts';
import { configureSoftHsm } from '../keys/softhsm.ts';
import { openPostgresStore } from '../records/postgres.ts';
import { openSqliteStore } from '../records/sqlite.ts';
import type { Store } from '../records/store.ts';
import { type DataFolder, isPresent, readPart, requirePart } from './data-folder.ts';
import { underFileLock } from './file-lock.ts';
import { withTokenCopy } from './token-copy.ts';

/** The label of the token that a first start makes. */
export const TOKEN_LABEL = 'codesign-remote';
/**
 * While one signature is computed on each core, the next ones wait in sessions of their own: the cores need not wait for
 * this process to bring them. SoftHSM has as many sessions as are asked for, a device may have few.
 */
const SESSIONS_PER_CORE = { softHsm: 32, other: 2 };

export interface OpenData {
  readonly folder: DataFolder;
  readonly store: Store;
  readonly keys: KeyStore;
  /** How many operations of the HSM may be under way at once. */
  readonly sessions: number;
  close(): Promise<void>;
}

export interface OpenOptions {
  /** Undefined: SQLite in the data folder. */
  readonly database?: string | undefined;
  /** Undefined: SoftHSM's in the data folder. */
  readonly token?: TokenOptions | undefined;
  readonly sessions?: number | undefined;
}

/** @param library path of the PKCS#11 library @throws `data-folder-incomplete`, `data-folder-unusable`, and what HSM and database throw */
export async function openData(
  folder: DataFolder,
  library: string,
  environment: NodeJS.ProcessEnv,
  { database, token, sessions = defaultSessions(token) }: OpenOptions = {},
): Promise<OpenData> {
  // SQLite would make a missing file anew, and an empty one at that: no client, no certificate, no record.
  const pin = token?.pin ?? (await readPin(folder));
  if (database === undefined) await requireDatabase(folder);
  if (token === undefined) await configureSoftHsm(folder.path, environment);
  const open = () => openPkcs11(token ?? { library, label: TOKEN_LABEL, pin }, sessions);
  // A login to SoftHSM writes the token's file anew, and who reads it meanwhile finds no token.
  const keys =
    token === undefined
      ? await underFileLock(join(folder.path, 'login-lock'), () => withTokenCopy(folder, open))
      : await open();
  try {
    const store = await openStore(folder, database);
    if (database !== undefined) await requireAuthority(store);
    return {
      folder,
      store,
      keys,
      sessions,
      async close() {
        try {
          await keys.close();
        } finally {
          await store.close();
        }
      },
    };
  } catch (error) {
    await keys.close();
    throw error;
  }
}

/** The database of a data folder. @param database `postgres://…`; undefined: SQLite in it @throws `database-unusable` */
export async function openStore(folder: DataFolder, database: string | undefined): Promise<Store> {
  return database === undefined ? await openSqliteStore(folder.database) : await openPostgresStore(database);
}

/** Checks that SQLite would not make a new database. @throws `database-not-named`, `data-folder-incomplete`, `data-folder-unusable` */
export async function requireDatabase(folder: DataFolder): Promise<void> {
  if (!(await isPresent(folder.database))) throw serverError('database-not-named', { path: folder.path });
  await requirePart(folder, folder.database, 'its database');
}

/** The PIN of the token that a first start made. @throws `token-not-named`, `data-folder-unusable` */
export async function readPin(folder: DataFolder): Promise<string> {
  if (!(await isPresent(folder.pin))) throw serverError('token-not-named', { path: folder.path });
  return (await readPart(folder, folder.pin, 'the PIN of its token')).trimEnd();
}

async function requireAuthority(store: Store): Promise<void> {
  if ((await store.authority.get()) !== undefined) return;
  await store.close();
  throw serverError('database-of-another');
}

function defaultSessions(token: TokenOptions | undefined): number {
  return availableParallelism() * (token === undefined ? SESSIONS_PER_CORE.softHsm : SESSIONS_PER_CORE.other);
}
