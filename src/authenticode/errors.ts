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
    hint: 'Remove the signature, or build or download the file again: it is damaged or of an unknown type.',
  },
  'authenticode-content-other': {
    message: 'not an Authenticode signature: its content has the type {type}',
    hint: 'Remove the signature, or build or download the file again.',
    isUnsupported: true,
  },
  'authenticode-nested-too-deeply': {
    message: 'the Authenticode signature contains nested signatures {problem}',
    hint: 'Do not trust this file: no signing program creates such a file.',
    isUnsupported: true,
  },
  'cannot-stamp': {
    message: 'timestamps cannot be added to the signatures in this file: {reason}',
    hint: 'Sign the file again with --replace and a timestamp.',
  },
});
