/** What can be wrong with a cabinet that is to be signed. */

import { defineErrors } from '../../errors/define-errors.ts';

export const cabErrors = defineErrors('local', {
  'cabinet-truncated': {
    message: 'the file ends after {size} bytes, but its {what} reaches up to byte {end}',
    hint: 'The cabinet is truncated or damaged. Build or download it again.',
  },
  'cabinet-malformed': {
    message: 'the cabinet is malformed: {problem}',
    hint: 'Build or download it again.',
  },
  'cabinet-reserve-in-use': {
    message: "the reserved area of the cabinet's header ({length} bytes) holds data of another program",
    hint: 'A signature has no other place. Create the cabinet without data in its reserved area.',
  },
  'cabinet-trailing-bytes': {
    message: '{length} bytes that belong neither to the cabinet nor to a signature follow at byte {end}',
    hint: 'No signature would cover them. Start from the cabinet as it was created, and do not append data to it.',
  },
  'cabinet-too-large': {
    message: 'the cabinet is {size} bytes long, and a signed one cannot be longer than 4 GiB',
    hint: 'Sizes in a cabinet have 32 bits. Split the contents into several cabinets.',
  },
});
