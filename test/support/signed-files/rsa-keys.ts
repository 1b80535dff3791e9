/** RSA keys for tests, each made once in a run, since that takes long, and kept in its shared folder. */

import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SHARED_FOLDER_VARIABLE } from '../shared-folder.ts';

/** The key of this size and name: another one for each name. */
export function rsaKey(bits: number, name: string): { readonly privateKey: KeyObject; readonly publicKey: KeyObject } {
  const shared = process.env[SHARED_FOLDER_VARIABLE];
  if (shared === undefined) return generateKeyPairSync('rsa', { modulusLength: bits });
  const folder = join(shared, 'rsa-keys');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${bits}-${encodeURIComponent(name)}`);
  const privateKey = createPrivateKey(textIfThere(path) ?? kept(path, bits));
  return { privateKey, publicKey: createPublicKey(privateKey) };
}

/** Makes the key in the file. If other processes do too, one wins. */
function kept(path: string, bits: number): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: bits });
  const aside = `${path}.${process.pid}`;
  writeFileSync(aside, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  try {
    linkSync(aside, path);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
  } finally {
    rmSync(aside);
  }
  return readFileSync(path, 'utf8');
}

function textIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw thrown;
  }
}
