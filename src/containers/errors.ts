import { defineErrors } from '../errors/define-errors.ts';

export const containerErrors = defineErrors('local', {
  'containers-too-deep': {
    message: 'containers are nested more than {limit} levels deep',
    hint: 'Check where the file comes from. Real packages have up to four levels.',
    isUnsupported: true,
  },
  'contents-too-many': {
    message: 'the file contains more than {limit} files',
    hint: 'Unpack it, and verify the folder in parts.',
    isUnsupported: true,
  },
});
