/** RSA keys take up to seconds to make: each is made once in a run of the tests, and kept in its shared folder. */

import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SHARED_FOLDER_VARIABLE } from '../shared-folder.ts';

/** The key of this size and name. Two processes that make it at the same time may each use another one. */
export function rsaKey(bits: number, name: string): { readonly privateKey: KeyObject; readonly publicKey: KeyObject } {
  const shared = process.env[SHARED_FOLDER_VARIABLE];
  if (shared === undefined) return generateKeyPairSync('rsa', { modulusLength: bits });
  const folder = join(shared, 'rsa-keys');
  const path = join(folder, createHash('sha256').update(`${bits} ${name}`).digest('hex'));
  const kept = readIfThere(path);
  if (kept !== undefined) {
    const privateKey = createPrivateKey(kept);
    return { privateKey, publicKey: createPublicKey(privateKey) };
  }
  const made = generateKeyPairSync('rsa', { modulusLength: bits });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const aside = `${path}.${process.pid}`;
  writeFileSync(aside, made.privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  renameSync(aside, path);
  return made;
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw thrown;
  }
}
