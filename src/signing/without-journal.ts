/** What takes the journal's place where the user wants none: nothing is kept, nothing is shared, every file asks anew. */

import type { Claim, Journal } from '../journal/journal.ts';

/** The part of the journal that signing uses. */
export type Claims = Pick<Journal, 'claim' | 'isProven'>;

const nothing = async (): Promise<void> => undefined;

const CLAIM: Claim = {
  id: '',
  known: undefined,
  unknownCalls: [],
  justUnanswered: false,
  requested: nothing,
  signed: nothing,
  refused: nothing,
  unanswered: nothing,
  unusable: nothing,
  written: async () => ({ reportDue: true, reported: undefined }),
  notWritten: async () => ({ reportDue: false, reported: undefined }),
  reported: nothing,
  release: nothing,
};

export const withoutJournal: Claims = { claim: async () => CLAIM, isProven: async () => false };
