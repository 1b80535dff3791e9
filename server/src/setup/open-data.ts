/** Opens what a data folder holds: the store and the HSM's keys. */

import { availableParallelism } from 'node:os';
import type { KeyStore } from '../keys/key-store.ts';
import { openPkcs11 } from '../keys/pkcs11.ts';
import { configureSoftHsm } from '../keys/softhsm.ts';
import { openSqliteStore } from '../records/sqlite.ts';
import type { Store } from '../records/store.ts';
import { type DataFolder, readPart, requirePart } from './data-folder.ts';
import { TOKEN_LABEL } from './make-data.ts';

/** While one signature is computed on each core, the next one's request already waits in a session of its own. */
const SESSIONS_PER_CORE = 2;

export interface OpenData {
  readonly folder: DataFolder;
  readonly store: Store;
  readonly keys: KeyStore;
  /** How many operations of the HSM may be under way at once. */
  readonly sessions: number;
  close(): Promise<void>;
}

/** @param library path of the PKCS#11 library @throws `data-folder-incomplete`, `data-folder-unusable`, and what HSM and database throw */
export async function openData(folder: DataFolder, library: string, environment: NodeJS.ProcessEnv): Promise<OpenData> {
  const pin = await readPart(folder, folder.pin, 'the PIN of its token');
  // The database would make a missing file anew, and an empty one at that: no client, no certificate, no record.
  await requirePart(folder, folder.database, 'its database');
  await configureSoftHsm(folder.path, environment);
  const sessions = SESSIONS_PER_CORE * availableParallelism();
  const keys = await openPkcs11({ library, label: TOKEN_LABEL, pin: pin.trimEnd() }, sessions);
  try {
    const store = await openSqliteStore(folder.database);
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
