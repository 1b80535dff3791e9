import { CodesignError } from '../errors/codesign-error.ts';
import { defineErrors } from '../errors/define-errors.ts';
import { defineWarnings } from '../errors/define-warnings.ts';
import { hasCode, systemReason } from '../errors/system-reason.ts';
import { REFUSED } from './own-folder.ts';

export const journalErrors = defineErrors('local', {
  'journal-unusable': {
    message: 'the journal in {folder} cannot be used: {reason}',
    hint: 'Set another folder with CODESIGN_STATE_DIR, or use --no-journal: a signature can then be lost or paid for twice.',
  },
  'journal-full': {
    message: 'no space is left on the disk for the journal in {folder}',
    hint: 'Free some space, set a folder on another disk with CODESIGN_STATE_DIR, or use --no-journal.',
  },
  'history-unreadable': {
    message: 'the history of {month} cannot be read: {reason}',
    hint: 'Put the file of this user back in its place, or remove what is there. Until then, calls of this month are missing.',
  },
  'no-state-folder': {
    message: 'this user has no home folder for the journal',
    hint: 'Set a folder with CODESIGN_STATE_DIR, or use --no-journal.',
  },
  'claim-lost': {
    message: 'another process assumed this one had exited and is requesting the same signature; no request was sent',
    hint: 'Run again for this file: this machine or the disk with the journal did not respond for a long time.',
  },
  'claim-interrupted': {
    message: 'interrupted while {whom} was requesting the same signature',
    hint: 'Run again for this file.',
  },
});

/** Other errors pass through unchanged. */
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
  const reason = hasCode(cause, 'EEXIST') ? 'something else has its name' : journalReason(cause);
  return journalErrors('journal-unusable', { folder, reason }, { cause });
}

/** Why a file or folder of the journal cannot be used. */
export function journalReason(thrown: unknown): string {
  return thrown instanceof Error && hasCode(thrown, REFUSED) ? thrown.message : systemReason(thrown);
}

export const journalWarnings = defineWarnings({
  'history-damaged': 'the history of {month} in {folder} has {lines}, left out',
  'call-damaged': 'an entry of the journal is damaged, and its signature may have been counted: {path}',
  'call-of-file-damaged': 'an entry of the journal for {file} is damaged: {path}',
  'call-not-entered': 'a damaged entry of the journal cannot be entered into the history: {path}',
  'call-unreadable': 'an entry of the journal, {path}, cannot be read: {reason}',
  'signature-perhaps-lost':
    'an entry of the journal for {file} was damaged: a signature of {wasFor} may have been counted and lost; it is kept as call {call}',
  'finished-call-damaged':
    'a finished entry of the journal for {file} is damaged, so its signature cannot be used again',
});
