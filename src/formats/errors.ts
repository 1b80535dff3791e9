/** What can go wrong with any format's file: refusals that have the same meaning for all of them. */

import { defineErrors } from '../errors/define-errors.ts';

export const formatErrors = defineErrors({
  'cannot-append': {
    category: 'local',
    message: (d: { reason: string }) => `a signature cannot be appended to those in this file: ${d.reason}`,
    hint: 'Use --replace to replace the existing signatures.',
  },
  'cannot-replace': {
    category: 'local',
    message: (d: { format: string }) => `signatures in a file of this format cannot be replaced: ${d.format}`,
    hint: 'Use --append, or remove the signatures first.',
  },
  'not-signed': {
    category: 'local',
    message: 'the file holds no signature',
    hint: 'Sign it first. codesign-remote inspect shows the contents of a file.',
  },
  'not-its-signature': {
    category: 'local',
    message: (d: { reason: string }) => `this signature does not belong to this file: ${d.reason}`,
    hint: 'Use the signature of exactly this content.',
  },
  'result-damaged': {
    category: 'local',
    message: (d: { reason: string }) => `the signed file is not as expected: ${d.reason}`,
    hint: 'Try again. The original is unchanged; another program or a failing disk may have changed the copy.',
  },
  'unsupported-format': {
    category: 'local',
    message: (d: { looksLike: string }) => `not a file that can be signed: it looks like ${d.looksLike}`,
    hint: (d: { formats: string }) =>
      `Formats that can be signed: ${d.formats}. The format is detected from the content, not from the name.`,
  },
});
