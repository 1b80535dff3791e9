import { defineErrors } from '../errors/define-errors.ts';

export const asn1Errors = defineErrors('local', {
  'asn1-malformed': {
    message: '{what}: {problem} (at byte {offset} of the encoding)',
    hint: 'Build or download the file again. The data is damaged or has an unexpected type.',
  },
});
