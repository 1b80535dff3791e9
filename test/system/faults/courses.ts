/** The courses that are right after most faults; what differs from them is written out in its row. */

import type { Course } from './row.ts';

/** Refused before anything was asked: it costs nothing, and the next run signs. */
export const NOTHING_ASKED: Course = {
  exit: 6,
  asked: 0,
  counted: 0,
  file: 'original',
  resume: '0, nothing',
  afterResume: 'original',
  again: '0, asked',
  total: 1,
};

/** The signature was given and could not be used: `resume` finishes with it. */
export const KEPT: Course = {
  exit: 6,
  asked: 1,
  counted: 1,
  file: 'original',
  resume: '0, unwritten: finished',
  afterResume: 'signed',
  again: '–',
  total: 1,
};

export const SIGNED: Course = {
  exit: 0,
  asked: 1,
  counted: 1,
  file: 'signed',
  resume: '0, nothing',
  afterResume: 'signed',
  again: '–',
  total: 1,
};

/** Signed, and told to the service by `resume`. */
export const REPORTED_LATER: Course = { ...SIGNED, resume: '0, unreported: finished' };

/** No one can know here whether the service signed: the user gets a message, and decides before the next `sign`. */
export function unknown(exit: number, counted: 0 | 1): Course {
  return {
    exit,
    asked: 1,
    counted,
    file: 'original',
    resume: '0, unknown: left',
    afterResume: 'original',
    again: '0, asked, warns',
    total: counted + 1,
  };
}

/** What `sign` says when the file system says this of a file. */
export const IN_FILES = { EIO: 'file-system', EACCES: 'permission-denied', ENOSPC: 'disk-full' } as const;
export const IN_JOURNAL = { EIO: 'journal-unusable', EACCES: 'journal-unusable', ENOSPC: 'journal-full' } as const;
export const HARMLESS = { EIO: null, EACCES: null, ENOSPC: null } as const;
