import { defineErrors } from '../../errors/define-errors.ts';

export const asarErrors = defineErrors('local', {
  'asar-malformed': {
    message: 'the Electron archive is damaged: {problem}',
    hint: 'Build or download the file again: it is truncated or damaged.',
  },
});
