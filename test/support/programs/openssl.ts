/** Asks the openssl program, which checks what this one makes and makes what this one reads. */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/**
 * Runs `openssl` in a temporary folder that holds `files`, and gives its standard output. Throws, with what it said, when
 * it fails.
 */
export function openssl(args: readonly string[], files: Readonly<Record<string, string | Uint8Array>> = {}): Buffer {
  const folder = mkdtempSync(path.join(tmpdir(), 'codesign-openssl-'));
  try {
    for (const [name, contents] of Object.entries(files)) writeFileSync(path.join(folder, name), contents);
    return execFileSync('openssl', args, {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 64 * 1024 * 1024,
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
