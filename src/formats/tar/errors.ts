import { defineErrors } from '../../errors/define-errors.ts';

export const tarErrors = defineErrors('local', {
  'tar-unsupported': {
    message: 'the tar archive cannot be read: {problem}',
    hint: 'Write the archive as one file without sparse entries, for example with tar --format=pax.',
    isUnsupported: true,
  },
});
