/** What can go wrong when reading bytes. */

import { defineErrors } from '../errors/define-errors.ts';

export const bytesErrors = defineErrors('local', {
  'read-past-end': {
    message: '{what}: needs {length} bytes at offset {offset}, but there are only {size} bytes',
    hint: 'The file is truncated or damaged. Build or download it again.',
  },
  'file-shrunk': {
    message: 'the file became shorter while it was read ({length} bytes wanted at offset {offset})',
    hint: 'Another program is writing to it. Sign it after that program has finished.',
  },
  'pieces-invalid': {
    category: 'internal',
    message: 'the pieces of a file cannot be put together: {problem}',
    hint: 'This is a fault of codesign-remote. Run again with --verbose and report what it prints.',
  },
});
