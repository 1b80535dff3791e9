/** What can be wrong with an Authenticode signature, or with what the user wants in one. */

import { defineErrors } from '../errors/define-errors.ts';

export const authenticodeErrors = defineErrors({
  'description-invalid': {
    category: 'usage',
    message: (d: { problem: string }) => `the description ${d.problem}`,
    hint: 'Use one line of plain text: the name of the program.',
  },
  'url-invalid': {
    category: 'usage',
    message: (d: { problem: string }) => `the program's web page ${d.problem}`,
    hint: 'Use an absolute address: https://example.com/product',
  },
  'authenticode-malformed': {
    category: 'local',
    message: (d: { problem: string }) => `the Authenticode signature is malformed: ${d.problem}`,
    hint: 'The signature is damaged or of an unknown kind. Remove it, or build or download the file again.',
  },
  'authenticode-nested-too-deeply': {
    category: 'local',
    message: (d: { problem: string }) => `the Authenticode signature holds nested signatures ${d.problem}`,
    hint: 'No signing program creates such a file: do not trust it.',
  },
  'cannot-stamp': {
    category: 'local',
    message: (d: { reason: string }) => `the signatures in this file cannot be given timestamps: ${d.reason}`,
    hint: 'Sign the file again with --replace and a timestamp.',
  },
});
