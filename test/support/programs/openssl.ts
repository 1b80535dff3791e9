/** Asks the openssl program, which checks what this one makes and makes what this one reads. */

import { execFileSync } from 'node:child_process';
import type { KeyObject } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

type Files = Readonly<Record<string, string | Uint8Array>>;

/**
 * Runs `openssl` in a temporary folder that holds `files`, and gives its standard output, or the file `result` for commands
 * that write only files. If openssl fails, throws an error with its output.
 */
export function openssl(args: readonly string[], files: Files = {}, result?: string): Buffer {
  const folder = mkdtempSync(path.join(tmpdir(), 'codesign-openssl-'));
  try {
    for (const [name, contents] of Object.entries(files)) writeFileSync(path.join(folder, name), contents);
    const printed = execFileSync('openssl', args, {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 64 * 1024 * 1024,
    });
    return result === undefined ? printed : readFileSync(path.join(folder, result));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Signs the content with `openssl cms -sign`. Returns the CMS structure in DER. */
export function signedByOpenssl(
  content: string | Uint8Array,
  { pem, privateKey }: { readonly pem: string; readonly privateKey: KeyObject },
  options: readonly string[] = [],
): Buffer {
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' });
  const by = ['-binary', '-signer', 'signer', '-inkey', 'key', '-md', 'sha256'];
  const args = ['cms', '-sign', ...by, '-in', 'content', '-outform', 'DER', ...options];
  return openssl(args, { content, signer: pem, key });
}

/** Verifies a token for the data with `openssl ts -verify`. Returns the output. */
export function verifyTimestamp(token: Uint8Array, data: Uint8Array, root: string | Uint8Array): string {
  const args = 'ts -verify -token_in -in token -data data -CAfile root.pem'.split(' ');
  return openssl(args, { token, data, 'root.pem': root }).toString();
}

/** Whether it exits with 0. Throws if it cannot be started. */
export function opensslAccepts(args: readonly string[], files: Files): boolean {
  try {
    openssl(args, files);
    return true;
  } catch (thrown) {
    if (typeof (thrown as { status?: unknown }).status !== 'number') throw thrown;
    return false;
  }
}

/** Its standard output, whether it fails or not. */
export function printedByOpenssl(args: readonly string[], files: Files): string {
  try {
    return openssl(args, files).toString();
  } catch (thrown) {
    const { status, stdout } = thrown as { status?: unknown; stdout?: Buffer };
    if (typeof status !== 'number') throw thrown;
    return String(stdout);
  }
}
