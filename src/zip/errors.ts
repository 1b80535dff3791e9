/** What can be wrong with a ZIP archive that is to be changed. */

import { defineErrors } from '../errors/define-errors.ts';

export const zipErrors = defineErrors({
  'zip-malformed': {
    category: 'local',
    message: (d: { problem: string }) => `the ZIP archive is damaged: ${d.problem}`,
    hint: 'The file is truncated or damaged. Build or download it again.',
  },
  'zip-ambiguous': {
    category: 'local',
    message: (d: { problem: string }) => `the ZIP archive can be read in two ways: ${d.problem}`,
    hint: 'Build the archive again with another program: different programs would see different contents under one signature.',
  },
  'zip-unsupported': {
    category: 'local',
    message: (d: { problem: string }) => `the ZIP archive can neither be signed nor verified: ${d.problem}`,
    hint: 'Write it as one file with stored or deflated entries, without encryption.',
  },
  'zip-name-refused': {
    category: 'local',
    message: (d: { name: string; problem: string }) =>
      `an entry of the ZIP archive has a name that can be neither signed nor verified: ${d.name} ${d.problem}`,
    hint: 'Rename the entry and build the archive again.',
  },
  'zip-entry-damaged': {
    category: 'local',
    message: (d: { name: string; problem: string }) =>
      `the entry ${d.name} of the ZIP archive is damaged: ${d.problem}`,
    hint: 'Build or download the file again.',
  },
});
