import { defineErrors, defineWarnings } from '../../errors/define-errors.ts';

export const msiErrors = defineErrors('local', {
  'not-an-installer-file': {
    message: 'the file is not a Windows Installer file (MSI, MSP, MST): it looks like {looksLike}',
    hint: 'Windows checks only the signatures in installer packages, patches and transforms. Sign other compound files with the programs that create them.',
  },
});

export const msiWarnings = defineWarnings({
  'second-signature-unread': 'only open-source programs make and read a second signature in an installer file',
});
