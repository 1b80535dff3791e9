/** What can go wrong with any format's file: refusals that have the same meaning for all of them. */

import { defineErrors } from '../errors/define-errors.ts';

export const formatErrors = defineErrors({
  'cannot-append': {
    category: 'local',
    message: (d: { reason: string }) => `a signature cannot stand beside the ones in this file: ${d.reason}`,
    hint: 'Use --replace to put the new signature in the place of the old ones.',
  },
  'cannot-replace': {
    category: 'local',
    message: (d: { format: string }) => `signatures in a file of this format cannot be replaced: ${d.format}`,
    hint: 'Use --append, or remove the signatures first.',
  },
  'not-signed': {
    category: 'local',
    message: 'the file holds no signature',
    hint: 'Sign it first. What is in a file, codesign-remote inspect shows.',
  },
  'not-its-signature': {
    category: 'local',
    message: (d: { reason: string }) => `this signature does not belong to this file: ${d.reason}`,
    hint: 'A signature fits only the very content it was made for.',
  },
  'result-damaged': {
    category: 'local',
    message: (d: { reason: string }) => `the signed file is not as it should be: ${d.reason}`,
    hint: 'The original was left as it was. Another program, or a failing disk, may have changed the copy: try again.',
  },
  'unsupported-format': {
    category: 'local',
    message: (d: { looksLike: string }) => `not a file that can be signed: it looks like ${d.looksLike}`,
    hint: (d: { formats: string }) =>
      `Formats that can be signed: ${d.formats}. What counts is the content, not the name.`,
  },
});
