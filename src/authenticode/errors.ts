import { defineErrors } from '../errors/define-errors.ts';

export const authenticodeErrors = defineErrors('local', {
  'description-invalid': {
    category: 'usage',
    message: 'the description {problem}',
    hint: 'Use one line of plain text: the name of the program.',
  },
  'url-invalid': {
    category: 'usage',
    message: "the program's web page {problem}",
    hint: 'Use an absolute address: https://example.com/product',
  },
  'authenticode-malformed': {
    message: 'the Authenticode signature is malformed: {problem}',
    hint: 'Remove the signature, or build or download the file again: it is damaged or of an unknown kind.',
  },
  'authenticode-content-other': {
    message: 'the signature is not of Authenticode: its content is of type {type}',
    hint: 'Remove the signature, or build or download the file again.',
    isUnsupported: true,
  },
  'authenticode-nested-too-deeply': {
    message: 'the Authenticode signature holds nested signatures {problem}',
    hint: 'Do not trust this file: no signing program creates such a file.',
    isUnsupported: true,
  },
  'cannot-stamp': {
    message: 'the signatures in this file cannot be given timestamps: {reason}',
    hint: 'Sign the file again with --replace and a timestamp.',
  },
});
