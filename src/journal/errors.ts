/** What can go wrong with the journal. */

import { defineErrors } from '../errors/define-errors.ts';

export const journalErrors = defineErrors({
  'journal-unusable': {
    category: 'local',
    message: (d: { folder: string; reason: string }) => `the journal in ${d.folder} cannot be used: ${d.reason}`,
    hint: 'Without it a signature can be lost or paid for twice. Name another folder with CODESIGN_STATE_DIR, or go without a journal with --no-journal.',
  },
  'journal-full': {
    category: 'local',
    message: (d: { folder: string }) => `no space is left on the disk for the journal in ${d.folder}`,
    hint: 'Make room, name a folder on another disk with CODESIGN_STATE_DIR, or go without a journal with --no-journal.',
  },
  'no-state-folder': {
    category: 'local',
    message: 'this user has no home folder, so the journal has no place',
    hint: 'Name a folder for it with CODESIGN_STATE_DIR, or go without a journal with --no-journal.',
  },
  'claim-lost': {
    category: 'local',
    message: 'another process took this process for dead and asks for the same signature, so nothing was asked',
    hint: 'This machine, or the disk with the journal, stood still for long. Run again for this file.',
  },
  'claim-interrupted': {
    category: 'local',
    message: (d: { whom: string }) => `interrupted while ${d.whom} asked for the same signature`,
    hint: 'Run again for this file.',
  },
});
