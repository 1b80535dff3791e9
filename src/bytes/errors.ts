/** What can go wrong when reading bytes. */

import { defineErrors } from '../errors/define-errors.ts';

export const bytesErrors = defineErrors('local', {
  'read-past-end': {
    message: '{what}: needs {length} bytes at offset {offset}, but there are only {size} bytes',
    hint: 'Build or download the file again: it is truncated or damaged.',
  },
  'file-shrunk': {
    message: 'the file became shorter while it was read ({length} bytes wanted at offset {offset})',
    hint: 'Sign it again after the program that writes to it has finished.',
  },
  'pieces-invalid': {
    category: 'internal',
    message: 'the pieces of a file cannot be put together: {problem}',
    hint: 'Run again with --verbose and report the output: this is a defect of codesign-remote.',
  },
});
