import { defineErrors } from '../errors/define-errors.ts';

export const fileErrors = defineErrors('local', {
  'file-not-found': {
    message: 'the file does not exist',
    hint: '{suggestion}Check the path. A pattern with * must match at least one file.',
  },
  'name-not-utf8': {
    message: 'the name {name} contains bytes that are not UTF-8, so Node.js cannot open the file',
    hint: 'Give the file a UTF-8 name. The program convmv can rename all files in a folder.',
  },
  'broken-link': {
    message: '{link} is a link whose target does not exist: {leadsTo}',
    hint: 'Correct or remove the link, or use the path of the file itself.',
  },
  'link-loop': {
    message: 'the links in the path form a cycle, so it was not possible to {doing}',
    hint: 'Correct the links (ls -l shows their targets), or use the path of the file itself.',
  },
  'not-a-file': {
    message: 'the path leads to {kind}, not to a file',
    hint: 'Use the path of a file. Commands that take several files accept a folder with --recursive.',
  },
  'permission-denied': {
    message: 'no permission to {doing}',
    hint: 'Check the owner and the permissions, or use --output. Signing needs permission to read and write the file, and to write to its folder.',
  },
  'disk-full': {
    message: 'no space is left on the disk to {doing}',
    hint: 'Free some space. Signing first writes a copy of the file next to the target.',
  },
  'file-busy': {
    message: 'another program is using the file, so it was not possible to {doing}',
    hint: 'Close the program that is using the file. Antivirus programs and indexers release files after a moment, so try again.',
  },
  'file-system': {
    message: 'could not {doing}: {reason}',
    hint: 'Check the disk and the path.',
  },
});
