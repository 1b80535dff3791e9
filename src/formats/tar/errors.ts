import { defineErrors } from '../../errors/define-errors.ts';

export const tarErrors = defineErrors('local', {
  'tar-malformed': {
    message: 'the tar archive is damaged: {problem}',
    hint: 'Build or download the file again: it is truncated or damaged.',
  },
  'tar-unsupported': {
    message: 'the tar archive cannot be read: {problem}',
    hint: 'Write the archive as one file without sparse entries, for example with tar --format=pax.',
    isUnsupported: true,
  },
  'gzip-malformed': {
    message: 'the gzip data is damaged: {problem}',
    hint: 'Build or download the file again: it is truncated or damaged.',
  },
});
