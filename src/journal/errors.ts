import { join } from 'node:path';
import { CodesignError } from '../errors/codesign-error.ts';
import { defineErrors, defineWarnings } from '../errors/define-errors.ts';
import { hasCode, systemReason } from '../errors/system-reason.ts';

const FOLDER_HINT =
  'Set another folder with CODESIGN_STATE_DIR, or use --no-journal. Without a journal, a signature can be lost or paid for twice.';

export const journalErrors = defineErrors('local', {
  'journal-unusable': { message: 'the journal in {folder} cannot be used: {reason}', hint: FOLDER_HINT },
  'journal-full': {
    message: 'no space is left on the disk for the journal in {folder}',
    hint: 'Free some space, set a folder on another disk with CODESIGN_STATE_DIR, or use --no-journal.',
  },
  'journal-damaged': {
    message:
      'the journal {file} is damaged: it may contain signatures that were paid for but are not in their files yet',
    hint: 'Restore the journal from a backup, or start a new journal: {command}',
  },
  'journal-of-earlier-build': {
    message:
      'the journal in {folder} has the format of an earlier build, which cannot be read: it contains the folder {name}',
    hint: 'Finish the unfinished calls with the earlier build, and then move the folder. You can also set another folder with CODESIGN_STATE_DIR.',
  },
  'journal-needs-node-22': {
    message: 'the journal needs SQLite, which Node.js {version} does not include',
    hint: 'Use Node.js 22.13 or later, run npm install libsql, or use --no-journal. Without a journal, a signature can be lost or paid for twice.',
  },
  'no-state-folder': {
    message: 'the current user has no home folder for the journal',
    hint: 'Set a folder with CODESIGN_STATE_DIR, or use --no-journal.',
  },
  'claim-lost': {
    message: 'another process assumed that this process had exited; no request was sent',
    hint: 'Sign this file again. This machine or the disk with the journal did not respond for a long time.',
  },
  'claim-interrupted': {
    message: 'interrupted while {whom} was requesting the same signature',
    hint: 'Sign this file again.',
  },
  'work-held': {
    message: '{whom} is requesting the same signature, and has made no progress for {seconds} s; nothing was requested',
    hint: 'Check the other process: resume it if it is suspended, or end it. Sign the file again after the other process has ended.',
  },
  'just-unanswered': {
    category: 'network',
    message:
      'the same signature was requested a moment ago, but no response was received; the signature may have been made and counted',
    hint: 'Sign this file again. This run sent no second request for the signature.',
  },
});

export const journalWarnings = defineWarnings({
  'journal-replaced':
    'files of the journal in {folder} were replaced or removed during the run, so the run sends no more requests',
  'step-not-recorded': 'the journal could not be written: {reason}',
  'signature-not-recorded':
    'the journal could not keep the signature of {file}: call {id}, record {record} at the service ({reason})',
  'late-answer':
    'another process assumed that this one had exited, and requested the signature of {file} again: call {id} may have been counted twice',
});

/** From https://sqlite.org/rescode.html. Extended result codes have more bits above these, or a longer name. */
const CODES = { BUSY: 5, READONLY: 8, CORRUPT: 11, FULL: 13, CANTOPEN: 14, CONSTRAINT: 19, NOTADB: 26 } as const;

export function hasSqliteCode(thrown: unknown, ...names: readonly (keyof typeof CODES)[]): boolean {
  if (!(thrown instanceof Error)) return false;
  const { errcode, code, message } = thrown as { errcode?: number; code?: unknown; message: string };
  // libsql knows the names of only a few extended codes. If libsql cannot open a database, its message contains only
  // the number of the code.
  const number = code === '' ? /: (\d+)"?\)?$/.exec(message) : /^UNKNOWN_SQLITE_ERROR_(\d+)$/.exec(String(code));
  const given = Number(errcode ?? number?.[1]) & 255;
  return names.some((name) => given === CODES[name] || String(code).startsWith(`SQLITE_${name}`));
}

const REFUSED = 'REFUSED';

/** `asJournalError` turns it into an error of the journal. `problem` follows the path, for example "is a link". */
export function refusal(path: string, problem: string): Error {
  return Object.assign(new Error(`${path} ${problem}`), { code: REFUSED });
}

export function asJournalError(cause: unknown, folder: string): unknown {
  if (cause instanceof CodesignError || !(cause instanceof Error) || !('code' in cause)) return cause;
  if (hasSqliteCode(cause, 'FULL') || hasCode(cause, 'ENOSPC', 'EDQUOT')) {
    return journalErrors('journal-full', { folder }, { cause });
  }
  if (hasSqliteCode(cause, 'CORRUPT', 'NOTADB')) return damaged(folder, cause);
  return journalErrors('journal-unusable', { folder, reason: reasonOf(cause) }, { cause });
}

export function inJournal<T>(folder: string, work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    throw asJournalError(thrown, folder);
  }
}

export function damaged(folder: string, cause?: unknown): CodesignError {
  return journalErrors('journal-damaged', { file: join(folder, 'journal.db'), command: moveAway(folder) }, { cause });
}

function reasonOf(cause: Error): string {
  if (hasSqliteCode(cause, 'BUSY')) return 'another program keeps it locked';
  if (hasSqliteCode(cause, 'CANTOPEN', 'READONLY')) return 'this user cannot write to it';
  return hasCode(cause, REFUSED, 'ERR_SQLITE_ERROR') ? cause.message : systemReason(cause);
}

/** Moves all three files, because SQLite would apply an old log to the new database. */
function moveAway(folder: string): string {
  if (process.platform === 'win32') {
    return `Get-ChildItem '${folder}\\journal.db*' | Rename-Item -NewName { 'damaged-' + $_.Name }`;
  }
  return `cd '${folder}' && for f in journal.db*; do mv "$f" "damaged-$f"; done`;
}
