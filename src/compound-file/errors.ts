/** Errors in a compound file. */

import { defineErrors } from '../errors/define-errors.ts';

export const compoundFileErrors = defineErrors('local', {
  'compound-file-malformed': {
    message: 'the compound file is malformed: {problem}',
    hint: 'Build or download the file again: it is damaged or malicious.',
  },
  'compound-file-loop': {
    message: 'in the compound file, {what} forms a cycle at {where}',
    hint: 'Build or download the file again: it is damaged or malicious.',
  },
  'compound-file-overlap': {
    message: 'in the compound file, {what} uses {where}, which another part of the file also uses',
    hint: 'Build or download the file again: it is damaged or malicious.',
  },
  'compound-file-truncated': {
    message: 'the file ends after {size} bytes, but {what} extends to byte {end}',
    hint: 'Build or download the file again: it is truncated or damaged.',
  },
  'compound-file-too-large': {
    message: 'the compound file would have {size} bytes, but version {version} of the format allows only {limit}',
    hint: 'Move data out of the file, for example into a cabinet next to it.',
  },
});
