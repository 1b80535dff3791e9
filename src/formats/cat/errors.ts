/** Reasons why a security catalog cannot be signed. */

import { defineErrors, defineWarnings } from '../../errors/define-errors.ts';
import { plural } from '../../errors/plural.ts';

export const catErrors = defineErrors('local', {
  'catalog-malformed': {
    message: 'the security catalog is malformed: {problem}',
    hint: 'Create or download the catalog again.',
  },
  'catalog-too-large': {
    message: 'the security catalog is {size} bytes long, but only catalogs of up to {limit} bytes can be signed',
    hint: 'Split the list of files into several catalogs.',
    isUnsupported: true,
  },
  'catalog-trailing-bytes': {
    message: (d: { length: number; end: number }) =>
      `the file has ${plural(d.length, 'byte')} after the security catalog, starting at byte ${d.end}`,
    hint: 'Use the original catalog without the appended data: no signature covers such data.',
  },
});

export const catWarnings = defineWarnings({
  'listed-by-sha1':
    'the catalog lists its files by SHA-1 digests (version 1), and different files can be made with the same digest',
});
