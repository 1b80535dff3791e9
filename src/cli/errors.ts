/** Errors of the command line itself. */

import { defineErrors } from '../errors/define-errors.ts';

export const cliErrors = defineErrors({
  'invalid-usage': {
    category: 'usage',
    message: (d: { message: string }) => `${d.message}`,
    hint: (d: { help: string }) => `See ${d.help}.`,
  },
  'foreign-option': {
    category: 'usage',
    message: (d: { option: string; what: string }) => `${d.option} is ${d.what}`,
    hint: (d: { advice: string }) => `${d.advice}`,
  },
  'secret-as-argument': {
    category: 'usage',
    message: (d: { option: string }) => `${d.option}: secrets are not accepted as arguments`,
    hint: 'Change a secret that you typed: other users of this machine can see arguments, and the shell keeps them. Use codesign-remote login for the Access Secret, and CODESIGN_CERTIFICATE_PASSWORD_FILE for the password of a certificate file.',
  },
  'no-files': {
    category: 'usage',
    message: 'no files were given',
    hint: 'Name at least one file, a pattern such as "dist/*.exe", a list as @list.txt, or - for a list on standard input.',
  },
  'all-excluded': {
    category: 'usage',
    message: '--exclude excludes every file that was given',
    hint: 'Check the patterns. A pattern without a slash matches names in every folder, a pattern with a slash matches paths from the working folder.',
  },
  'standard-input-twice': {
    category: 'usage',
    message: 'standard input (-) can be read only once',
    hint: 'Give - once, and write all paths to standard input.',
  },
  'folder-not-recursive': {
    category: 'usage',
    message: (d: { path: string }) => `${d.path} is a folder`,
    hint: 'Add --recursive to process the supported files in it, or name the files. A pattern in quotes does not match folders.',
  },
  'nothing-matches': {
    category: 'usage',
    message: (d: { pattern: string }) => `no file matches ${d.pattern}`,
    hint: 'Check the pattern and the current folder. Patterns always use forward slashes.',
  },
  'nothing-to-sign': {
    category: 'usage',
    message: 'the folder contains no file of a supported format',
    hint: 'Name a file to see why it is not supported: the format is detected from the content.',
  },
  'list-unreadable': {
    category: 'usage',
    message: (d: { path: string; reason: string }) => `the file list ${d.path} cannot be read: ${d.reason}`,
    hint: 'Check the name of the list: a file with one path on each line, in UTF-8. Write ./@name for a file whose own name starts with @.',
  },
  'list-too-large': {
    category: 'usage',
    message: (d: { what: string }) => `the file list contains ${d.what}`,
    hint: 'Check that the file is a list with one path on each line, and that the program that writes it ends.',
  },
  'list-unusable': {
    category: 'usage',
    message: 'the file list contains NUL characters',
    hint: 'Write one path on each line, in UTF-8: use find with -print, not -print0.',
  },
  'progress-unknown': {
    category: 'usage',
    message: (d: { value: string }) => `CODESIGN_PROGRESS is "${d.value}"`,
    hint: 'Set it to live, plain or none. Without it, a live line is shown on terminals only.',
  },
  'output-lost': {
    category: 'local',
    message: (d: { reason: string }) =>
      `the run succeeded, but its result could not be written to standard output: ${d.reason}`,
    hint: 'Check the target of standard output. After sign, do not sign the files again: they are signed.',
  },
  'output-not-a-folder': {
    category: 'usage',
    message: (d: { path: string; count: number }) =>
      `--output ${d.path} is a file, but there are ${d.count} input files`,
    hint: 'Name a folder for several files. It is created if it does not exist.',
  },
  'output-is-input': {
    category: 'usage',
    message: (d: { output: string }) => `--output ${d.output} is the input file`,
    hint: 'Name another file: the signature would overwrite the signed file.',
  },
  'output-is-folder': {
    category: 'usage',
    message: (d: { output: string }) => `--output ${d.output} is a folder`,
    hint: 'Name a file for the signature.',
  },
  'binary-to-terminal': {
    category: 'usage',
    message: 'a signature in DER cannot be shown on a terminal',
    hint: 'Write it to a file with --output, pipe it into another program, or print it as text with --pem.',
  },
  'nothing-to-extract': {
    category: 'local',
    message: (d: { index: number }) => `signature ${d.index} is empty, or too damaged to be read`,
    hint: 'Run codesign-remote inspect to see what is wrong with it.',
  },
  'index-invalid': {
    category: 'usage',
    message: (d: { text: string }) => `--index ${d.text} is not the number of a signature`,
    hint: 'Use a number from 1: codesign-remote inspect shows the numbers.',
  },
  'index-out-of-range': {
    category: 'usage',
    message: (d: { index: number; count: string }) => `there is no signature ${d.index}: the file contains ${d.count}`,
    hint: 'Run codesign-remote inspect to see the numbers, of nested signatures too.',
  },
  'no-terminal': {
    category: 'usage',
    message: 'there is no terminal for questions: standard input or standard error is redirected',
    hint: (d: { instead: string }) => `${d.instead}`,
  },
  'no-answer': {
    category: 'usage',
    message: (d: { question: string }) => `the input ended before "${d.question}" was answered`,
    hint: 'Run the command again and answer. Nothing was changed.',
  },
  'answer-unclear': {
    category: 'usage',
    message: 'please answer y or n',
  },
});
