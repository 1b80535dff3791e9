/** Errors in a compound file. */

import { defineErrors } from '../errors/define-errors.ts';

export const compoundFileErrors = defineErrors('local', {
  'compound-file-malformed': {
    message: 'the compound file is malformed: {problem}',
    hint: 'The file is damaged, or made to deceive. Build or download it again.',
  },
  'compound-file-loop': {
    message: 'in the compound file, {what} runs in a circle at {where}',
    hint: 'The file is damaged, or made to deceive. Build or download it again.',
  },
  'compound-file-overlap': {
    message: 'in the compound file, {what} uses {where}, which another part of the file uses',
    hint: 'The file is damaged, or made to deceive. Build or download it again.',
  },
  'compound-file-truncated': {
    message: 'the file ends after {size} bytes, but {what} reaches up to byte {end}',
    hint: 'The file is truncated or damaged. Build or download it again.',
  },
  'compound-file-too-large': {
    message: 'the compound file would have {size} bytes; version {version} of the format allows {limit}',
    hint: 'Move data out of the file, for example into a cabinet next to it.',
  },
});
