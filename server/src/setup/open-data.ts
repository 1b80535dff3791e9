import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { ServerError } from '../errors.ts';
import { isThere, readIfThere, replaceFile, underFileLock } from '../files.ts';
import type { KeyStore } from '../keys/pkcs11.ts';
import { openPkcs11, type TokenOptions } from '../keys/pkcs11.ts';
import { configureSoftHsm, findSoftHsm, tokenFolder } from '../keys/softhsm.ts';
import { type PrepareTables, prepareTables, type TableRights } from '../records/migrations.ts';
import { openPostgresStore } from '../records/postgres.ts';
import { openSqliteStore } from '../records/sqlite.ts';
import type { Store } from '../records/store.ts';
import { type DataFolder, dataFolder, readPart, readPartNames, requirePart } from './data-folder.ts';

export const TOKEN_LABEL = 'codesign-remote';
/** SoftHSM allows any number of sessions, but a device may allow only a few. */
const SESSIONS_PER_CORE = { softHsm: 32, other: 2 };

export interface OpenData {
  readonly folder: DataFolder;
  readonly store: Store;
  readonly keys: KeyStore;
  readonly sessions: number;
  close(): Promise<void>;
}

export async function openData(config: Config, environment: NodeJS.ProcessEnv, rights: TableRights): Promise<OpenData> {
  const folder = dataFolder(config.dataRoot);
  const { library, token } = await chooseHsm(config, environment);
  const pin = token?.pin ?? (await readPin(folder));
  const perCore = token === undefined ? SESSIONS_PER_CORE.softHsm : SESSIONS_PER_CORE.other;
  const sessions = config.pkcs11Sessions ?? availableParallelism() * perCore;
  const open = () => openPkcs11(token ?? { library, label: TOKEN_LABEL, pin });
  let keys: KeyStore;
  if (token === undefined) {
    await configureSoftHsm(folder.path, environment);
    keys = await underFileLock(join(folder.path, 'login-lock'), () => withTokenCopy(folder, open));
  } else keys = await open();
  try {
    const store = await openStore(folder, config.database, rights);
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

export async function openStore(folder: DataFolder, database: string | undefined, rights: TableRights): Promise<Store> {
  if (database === undefined) {
    // SQLite would create a missing database.
    if (!(await isThere(folder.database))) throw new ServerError('database-not-named', { path: folder.path });
    await requirePart(folder, folder.database, 'its database');
  }
  const authority = await readPart(folder, folder.authority, "the authority's certificate");
  return await openDatabase(folder, database, prepareTables(rights, authority));
}

export async function openDatabase(
  folder: DataFolder,
  database: string | undefined,
  prepare: PrepareTables,
): Promise<Store> {
  if (database === undefined) return await openSqliteStore(folder.database, prepare);
  return await openPostgresStore(database, prepare);
}

export async function chooseHsm(
  { pkcs11Library, pkcs11Token: label, pkcs11PinFile: path }: Config,
  environment: NodeJS.ProcessEnv,
): Promise<{ readonly library: string; readonly token: TokenOptions | undefined }> {
  const library = findSoftHsm(pkcs11Library);
  if (label === undefined) return { library, token: undefined };
  const inFile = async () => {
    if (path === undefined) return '';
    const text = await readFile(path, 'utf8').catch((error: unknown) => {
      throw new ServerError('pin-unreadable', { path }, error);
    });
    return text.replace(/^\uFEFF|\r?\n$/g, '');
  };
  const pin = environment.CODESIGN_SERVER_PKCS11_PIN || (await inFile());
  if (pin === '') throw new ServerError('pin-missing', { token: label });
  return { library, token: { library, label, pin } };
}

export async function readPin(folder: DataFolder): Promise<string> {
  if (!(await isThere(folder.pin))) throw new ServerError('token-not-named', { path: folder.path });
  return (await readPart(folder, folder.pin, "the token's PIN")).trimEnd();
}

/**
 * Each login truncates the token's file and writes the file again. A process that is killed in between leaves an empty
 * file, and no later login would find the token. The first successful login therefore makes a copy of the file, and a
 * later login restores a file that is shorter than the copy. Only one process at a time may call this function.
 * @param work logs in
 */
async function withTokenCopy<T>(folder: DataFolder, work: () => Promise<T>): Promise<T> {
  const copy = join(folder.path, 'token-copy');
  const tokens = tokenFolder(folder.path);
  const [token = ''] = await readPartNames(folder, tokens, `its token in ${tokens}`);
  const original = join(tokens, token, 'token.object');
  const kept = await readIfThere(copy);
  const present = await readIfThere(original);
  if (kept !== undefined && (present?.length ?? 0) < kept.length) await replaceFile(original, kept);
  const result = await work();
  const written = kept === undefined ? await readIfThere(original) : undefined;
  if (written !== undefined) await replaceFile(copy, written);
  return result;
}
