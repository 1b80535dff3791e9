/** The files that hold the signing certificate and its chain, read whole, and the password that opens a PKCS#12 among them. */

import type { FileHandle } from 'node:fs/promises';
import { openToRead } from '../../bytes/read-file.ts';
import { systemReason } from '../../errors/system-reason.ts';
import { Secret } from '../../secrets/secret.ts';
import { settingsErrors } from '../errors.ts';
import type { Environment } from '../options.ts';
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
  if (password) return { password: new Secret(password), warnings: [] };
  const path = env.CODESIGN_CERTIFICATE_PASSWORD_FILE;
  if (!path) return { password: undefined, warnings: [] };
  const { text, warnings } = await readSecretFile(path, 'CODESIGN_CERTIFICATE_PASSWORD_FILE');
  return { password: new Secret(text), warnings };
}

async function readBounded(path: string): Promise<Uint8Array> {
  try {
    const handle = await openToRead(path);
    try {
      return await readUpTo(handle, READ_LIMIT);
    } finally {
      await handle.close();
    }
  } catch (thrown) {
    throw settingsErrors('certificate-file-missing', { path, reason: systemReason(thrown) }, { cause: thrown });
  }
}

/** To the end rather than to a size: what a shell substitutes for a file is a pipe, and has none. */
async function readUpTo(handle: FileHandle, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for (let length = 0; length < limit; ) {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(64 * 1024), 0, 64 * 1024, null);
    if (bytesRead === 0) break;
    chunks.push(buffer.subarray(0, bytesRead));
    length += bytesRead;
  }
  return Buffer.concat(chunks);
}
