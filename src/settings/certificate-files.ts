/** The files that hold the signing certificate and its chain, read whole, and the password that opens a PKCS#12 among them. */

import { open } from 'node:fs/promises';
import { systemReason } from '../errors/system-reason.ts';
import { Secret } from '../secrets/secret.ts';
import { settingsErrors } from './errors.ts';
import type { Environment } from './options.ts';
import { readSecretFile } from './secret-file.ts';

/** Far more than any chain: enough to see that a file is too large, never enough to fill the memory. */
const READ_LIMIT = 16 * 1024 * 1024;

export interface CertificateFiles {
  readonly files: readonly { readonly name: string; readonly bytes: Uint8Array }[];
  readonly password: Secret | undefined;
  /** Whole sentences. */
  readonly warnings: readonly string[];
}

/** Throws `certificate-file-missing` for a path that cannot be read. */
export async function readCertificateFiles(paths: readonly string[], env: Environment): Promise<CertificateFiles> {
  const files = await Promise.all(paths.map(async (name) => ({ name, bytes: await readBounded(name) })));
  return { files, ...(await readPassword(env)) };
}

async function readPassword(env: Environment): Promise<Pick<CertificateFiles, 'password' | 'warnings'>> {
  const password = env.CODESIGN_CERTIFICATE_PASSWORD;
  if (password !== undefined) return { password: new Secret(password), warnings: [] };
  const path = env.CODESIGN_CERTIFICATE_PASSWORD_FILE;
  if (!path) return { password: undefined, warnings: [] };
  const { text, warnings } = await readSecretFile(path, 'CODESIGN_CERTIFICATE_PASSWORD_FILE');
  return { password: new Secret(text), warnings };
}

async function readBounded(path: string): Promise<Uint8Array> {
  try {
    const handle = await open(path, 'r');
    try {
      const { size } = await handle.stat();
      const buffer = Buffer.alloc(Math.min(size, READ_LIMIT));
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch (thrown) {
    throw settingsErrors('certificate-file-missing', { path, reason: systemReason(thrown) }, { cause: thrown });
  }
}
