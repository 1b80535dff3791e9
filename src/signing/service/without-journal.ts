/** Replaces the journal if the user wants none: nothing is kept or reused, every file requests a signature of its own. */

import type { Claim, Journal } from '../../journal/journal.ts';

/** The part of the journal that signing uses. */
export type Claims = Pick<Journal, 'claim' | 'isProven' | 'counted' | 'unfinished'>;

const nothing = async (): Promise<void> => undefined;

/** Each file has a signature of its own. */
const WRITTEN = { reportDue: true, reported: undefined, isUsed: true, hasFailed: false } as const;

const CLAIM: Claim = {
  id: '',
  known: undefined,
  unknownCalls: [],
  justUnanswered: false,
  requested: nothing,
  deferred: nothing,
  signed: nothing,
  refused: nothing,
  unanswered: nothing,
  unusable: nothing,
  written: async () => WRITTEN,
  notWritten: async () => ({ ...WRITTEN, reportDue: false }),
  reported: nothing,
  release: nothing,
};

export const withoutJournal: Claims = {
  claim: async () => CLAIM,
  isProven: async () => false,
  counted: async () => 0,
  unfinished: async () => [],
};
