/** What the file system says of the journal, as the journal's own errors. */

import { CodesignError } from '../errors/codesign-error.ts';
import { systemReason } from '../errors/system-reason.ts';
import { hasCode } from './disk.ts';
import { journalErrors } from './errors.ts';
import { REFUSED } from './own-folder.ts';

/** What is no error of the system comes out as it is. */
export async function inJournal<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw fromFileSystem(cause, folder);
  }
}

function fromFileSystem(cause: unknown, folder: string): unknown {
  if (cause instanceof CodesignError || !(cause instanceof Error) || !('code' in cause)) return cause;
  if (hasCode(cause, 'ENOSPC', 'EDQUOT')) return journalErrors('journal-full', { folder }, { cause });
  const reason = hasCode(cause, 'EEXIST') ? 'there is something else of its name' : journalReason(cause);
  return journalErrors('journal-unusable', { folder, reason }, { cause });
}

/** Why a file or folder of the journal cannot be used. */
export function journalReason(thrown: unknown): string {
  return thrown instanceof Error && hasCode(thrown, REFUSED) ? thrown.message : systemReason(thrown);
}
