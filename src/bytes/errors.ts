/** What can go wrong when reading bytes. */

import { defineErrors } from '../errors/define-errors.ts';

export const bytesErrors = defineErrors({
  'read-past-end': {
    category: 'local',
    message: (d: { what: string; length: number; offset: number; size: number }) =>
      `${d.what}: needs ${d.length} bytes at offset ${d.offset}, but there are only ${d.size} bytes`,
    hint: 'The file is truncated or damaged. Build or download it again.',
  },
  'file-shrunk': {
    category: 'local',
    message: (d: { length: number; offset: number }) =>
      `the file became shorter while it was read (${d.length} bytes wanted at offset ${d.offset})`,
    hint: 'Another program is writing to it. Sign it after that program has finished.',
  },
  'pieces-invalid': {
    category: 'internal',
    message: (d: { problem: string }) => `the pieces of a file cannot be put together: ${d.problem}`,
    hint: 'This is a fault of codesign-remote. Run again with --verbose and report what it prints.',
  },
});
