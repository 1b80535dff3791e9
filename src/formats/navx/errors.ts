/** Reasons why an extension cannot be signed. */

import { defineErrors } from '../../errors/define-errors.ts';
import { plural } from '../../errors/plural.ts';

export const navxErrors = defineErrors('local', {
  'navx-truncated': {
    message: 'the file ends after {size} bytes, but its {what} extends to byte {end}',
    hint: 'Build or download the extension again: it is truncated or damaged.',
  },
  'navx-malformed': {
    message: 'the extension is malformed: {problem}',
    hint: 'Build or download the extension again.',
  },
  'navx-trailing-bytes': {
    message: (d: { length: number; end: number }) =>
      `the file has ${plural(d.length, 'byte')} after the package that are not a signature, starting at byte ${d.end}`,
    hint: 'Use the original .navx file, without the data appended to it: no signature covers such data.',
  },
  'navx-too-large': {
    message: 'the extension is {size} bytes long, but a signed extension cannot be larger than 4 GiB',
    hint: 'Move data out of the extension: it stores the offset of its signature in 32 bits.',
    isUnsupported: true,
  },
});
