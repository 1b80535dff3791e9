/** A secret kept in a file, read only when the file is the user's own. */

import type { Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import { readHandleUpTo } from '../../bytes/read-file.ts';
import { systemReason } from '../../errors/system-reason.ts';
import { settingsErrors } from '../errors.ts';

/** A secret is a line; what is larger is the wrong file. */
const LARGEST_SECRET_FILE = 64 * 1024;

/** Permission bits of group and others. */
const WRITABLE_BY_OTHERS = 0o022;
const READABLE_BY_OTHERS = 0o044;

export interface SecretFile {
  readonly text: string;
  readonly warnings: readonly string[];
}

/**
 * The file's text without one newline at its end. `variable` is the environment variable that names the file. Throws
 * `secret-file-unreadable` or `secret-file-exposed`.
 */
export async function readSecretFile(path: string, variable: string): Promise<SecretFile> {
  const { text, stats } = await readWithStats(path, variable);
  // Windows knows no such bits: what Node shows there says nothing about who may write.
  const warnings = process.platform === 'win32' ? [] : checkPermissions(path, stats, variable);
  // One newline, as `echo` and editors leave it; any other is part of the secret, and refused as such.
  return { text: text.replace(/\r?\n$/, ''), warnings };
}

/** Permissions and content of the same open file: between two look-ups by path it could be another. */
async function readWithStats(path: string, variable: string): Promise<{ text: string; stats: Stats }> {
  try {
    const file = await open(path, 'r');
    try {
      return {
        stats: await file.stat(),
        text: Buffer.from(await readHandleUpTo(file, LARGEST_SECRET_FILE)).toString(),
      };
    } finally {
      await file.close();
    }
  } catch (cause) {
    throw settingsErrors('secret-file-unreadable', { variable, path, reason: systemReason(cause) }, { cause });
  }
}

/** Warnings; throws `secret-file-exposed` when anyone but this user and root may write the file. */
function checkPermissions(path: string, { mode, uid }: Stats, variable: string): readonly string[] {
  if ((mode & WRITABLE_BY_OTHERS) !== 0) {
    throw settingsErrors('secret-file-exposed', { variable, path, problem: 'may be written by other users' });
  }
  const user = process.getuid?.();
  // Root reads files of the users it works for: a secret mounted into a container belongs to someone outside.
  if (user !== undefined && user !== 0 && uid !== user && uid !== 0) {
    throw settingsErrors('secret-file-exposed', { variable, path, problem: 'belongs to another user' });
  }
  if ((mode & READABLE_BY_OTHERS) === 0) return [];
  return [`The file named by ${variable}, ${path}, may be read by other users: chmod 600 makes it private.`];
}
