/** Reasons why a Windows Installer file cannot be signed. */

import { defineErrors, defineWarnings } from '../../errors/define-errors.ts';
import { plural } from '../../errors/plural.ts';

export const msiErrors = defineErrors('local', {
  'not-an-installer-file': {
    message: 'not a Windows Installer file (MSI, MSP, MST): it looks like {looksLike}',
    hint: 'Windows checks only the signatures in installer packages, patches and transforms. Sign other compound files with the programs that create them.',
  },
  'msi-database-malformed': {
    message: 'the tables of the installer are damaged: {problem}',
    hint: 'Build or download the file again: it is truncated or damaged.',
  },
  'msi-trailing-bytes': {
    message: (d: { length: number; offset: number }) =>
      `the file has ${plural(d.length, 'byte')} after the last sector in use, starting at byte ${d.offset}`,
    hint: 'Use the original build output: Windows rejects such a file, and no signature would cover these bytes.',
  },
});

export const msiWarnings = defineWarnings({
  'second-signature-unread': 'only open-source programs make and read a second signature in an installer file',
});
