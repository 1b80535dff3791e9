/** Whether a folder may hold the journal: it belongs to this user, and is one that others cannot write to. */

import { stat } from 'node:fs/promises';
import type { Owner } from './disk.ts';
import { journalErrors } from './errors.ts';

/** Permission bits of group and others. */
const WRITABLE_BY_OTHERS = 0o022;

/** Who shall own what is made in it, where that is not this user. Throws `journal-unusable`. */
export async function judgeFolder(folder: string, warn: (sentence: string) => void): Promise<Owner | undefined> {
  const { uid, gid, mode } = await stat(folder);
  const user = process.geteuid?.();
  // Windows knows no such owner.
  if (user === undefined) return undefined;
  if (user !== 0 && uid !== user && uid !== 0) {
    throw journalErrors('journal-unusable', { folder, reason: 'it belongs to another user' });
  }
  if ((mode & WRITABLE_BY_OTHERS) !== 0) {
    warn(`The journal's folder, ${folder}, may be written to by other users: chmod 700 makes it private.`);
  }
  return user === 0 && uid !== 0 ? { uid, gid } : undefined;
}
