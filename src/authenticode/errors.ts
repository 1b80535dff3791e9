import { defineErrors } from '../errors/define-errors.ts';

export const authenticodeErrors = defineErrors('local', {
  'description-invalid': {
    category: 'usage',
    message: 'the description {problem}',
    hint: 'Enter the name of the program as one line of plain text.',
  },
  'url-invalid': {
    category: 'usage',
    message: "the address of the program's web page {problem}",
    hint: 'Use an absolute URL, for example https://example.com/product',
  },
  'authenticode-malformed': {
    message: 'the Authenticode signature is malformed: {problem}',
    hint: 'Remove the signature, or build or download the file again. The signature is damaged or has an unknown type.',
  },
  'authenticode-content-other': {
    message: 'not an Authenticode signature: its content type is {type}',
    hint: 'Remove the signature, or build or download the file again.',
    isUnsupported: true,
  },
  'authenticode-nested-too-deeply': {
    message: 'the Authenticode signature contains too many nested signatures: {problem}',
    hint: 'Do not trust this file. No signing program creates such a file.',
    isUnsupported: true,
  },
  'cannot-stamp': {
    message: 'timestamps cannot be added to the signatures in this file: {reason}',
    hint: 'Sign the file again with --replace and a timestamp.',
  },
});
