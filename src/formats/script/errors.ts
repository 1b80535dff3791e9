import { defineErrors, defineWarnings } from '../../errors/define-errors.ts';

export const scriptErrors = defineErrors('local', {
  'script-empty': {
    message: 'the script is empty',
    hint: 'Windows does not accept signatures in empty scripts. Check that this is the right file.',
  },
  'script-encoding': {
    message: 'Windows would not decode the text of this script as intended: {problem}',
    hint: 'Save the script as UTF-8 with a BOM (byte order mark), and sign it again.',
    isUnsupported: true,
  },
  'script-block-damaged': {
    message: 'Windows would not recognise the signature block of this script: {problem}',
    hint: 'Delete all lines of the signature block in an editor, then sign the script again.',
  },
  'script-job-missing': {
    message: 'the script has no </job>, but the signature must be directly before the last </job>',
    hint: 'Put the <script> elements into a <job>: Windows Script Host runs the jobs in a .wsf file.',
  },
  'wsh-not-allowed': {
    category: 'usage',
    message: 'the file is probably not a script for Windows Script Host',
    hint: 'Most .js files are for browsers and Node.js, where a signature has no effect. Use --wsh to sign the file anyway.',
  },
});

export const scriptWarnings = defineWarnings({
  'line-ends-fragile':
    'some lines end with LF alone; if git or an editor changes the CRLF in the signature block to LF, Windows no longer finds the signature: set "-text" for this file in .gitattributes',
});
