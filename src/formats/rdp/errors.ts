import { defineErrors } from '../../errors/define-errors.ts';

export const rdpErrors = defineErrors('local', {
  'rdp-encoding': {
    message: 'Windows may not decode the text of this file as intended: {problem}',
    hint: 'Save the file in Remote Desktop Connection, or as UTF-16LE with a BOM (byte order mark), and sign it again.',
    isUnsupported: true,
  },
  'rdp-setting-ambiguous': {
    message: 'programs may interpret this file in different ways: {problem}',
    hint: 'Correct the line in an editor, and sign the file again.',
  },
  'rdp-address-missing': {
    message: 'the file has no setting "full address", which every signature must cover',
    hint: 'Add a line such as "full address:s:server.example.com", then sign the file again.',
  },
  'rdp-signature-damaged': {
    message: 'Windows would not recognise the signature in this file: {problem}',
    hint: 'In an editor, delete the lines that begin with "signscope:" and "signature:". Then sign the file again.',
  },
});
