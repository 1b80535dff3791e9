/** Reasons why a cabinet cannot be signed. */

import { defineErrors } from '../../errors/define-errors.ts';
import { plural } from '../../errors/plural.ts';

export const cabErrors = defineErrors('local', {
  'cabinet-truncated': {
    message: 'the file ends after {size} bytes, but its {what} extends to byte {end}',
    hint: 'Build or download the cabinet again: it is truncated or damaged.',
  },
  'cabinet-reserve-in-use': {
    message: "the reserved area of the cabinet's header ({length} bytes) contains data from another program",
    hint: 'Create the cabinet without data in its reserved area, because the signature needs this area.',
  },
  'cabinet-trailing-bytes': {
    message: (d: { length: number; end: number }) =>
      `the file has ${plural(d.length, 'byte')} after the cabinet and its signature, starting at byte ${d.end}`,
    hint: 'Use the original cabinet without the appended data: no signature covers such data.',
  },
  'cabinet-too-large': {
    message: 'the cabinet is {size} bytes long, but a signed cabinet cannot be larger than 4 GiB',
    hint: 'Split the contents into several cabinets: a cabinet stores sizes in 32 bits.',
    isUnsupported: true,
  },
});
