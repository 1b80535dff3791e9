/** What can be wrong with a command line itself. */

import { defineErrors } from '../errors/define-errors.ts';

export const cliErrors = defineErrors({
  'invalid-usage': {
    category: 'usage',
    message: (d: { message: string }) => `${d.message}`,
    hint: (d: { help: string }) => `See ${d.help}.`,
  },
  'foreign-option': {
    category: 'usage',
    message: (d: { option: string; tool: string }) => `${d.option} is an option of ${d.tool}`,
    hint: (d: { ours: string | undefined }) => `Here it is ${d.ours}.`,
  },
  'secret-as-argument': {
    category: 'usage',
    message: (d: { option: string }) => `${d.option}: secrets are never given on the command line`,
    hint: 'Others on this machine see it there, and the shell has kept it: change a secret that you typed. codesign-remote login asks for the Access Secret, or reads it from standard input; for a certificate file there is CODESIGN_CERTIFICATE_PASSWORD_FILE.',
  },
  'no-files': {
    category: 'usage',
    message: 'no files were named',
    hint: 'Name at least one file, a pattern such as "dist/*.exe", a list as @list.txt, or - for a list on standard input.',
  },
  'all-excluded': {
    category: 'usage',
    message: '--exclude leaves out every file that was named',
    hint: 'A pattern without a slash is for names in every folder, one with a slash for paths from the working folder.',
  },
  'standard-input-twice': {
    category: 'usage',
    message: 'standard input (-) can be read only once',
    hint: 'Name - once, and put all paths on it.',
  },
  'folder-not-recursive': {
    category: 'usage',
    message: (d: { path: string }) => `${d.path} is a folder`,
    hint: 'Add --recursive to take the files in it that can be signed, or name the files. A pattern in quotes leaves folders out.',
  },
  'nothing-matches': {
    category: 'usage',
    message: (d: { pattern: string }) => `no file matches ${d.pattern}`,
    hint: 'Check the pattern and the working folder. A pattern always uses forward slashes.',
  },
  'nothing-to-sign': {
    category: 'usage',
    message: 'there is no file in the folder that can be signed',
    hint: 'Files are judged by their content. Name a file to be told why it cannot be signed.',
  },
  'list-unreadable': {
    category: 'usage',
    message: (d: { path: string; reason: string }) => `the file list ${d.path} cannot be read: ${d.reason}`,
    hint: 'A list is a file with one path on each line, in UTF-8. Another program can write it to standard input (-). A file whose own name starts with @ is written ./@name.',
  },
  'list-too-large': {
    category: 'usage',
    message: (d: { what: string }) => `the file list holds ${d.what}`,
    hint: 'A list holds one path on each line. Check which file was named, and that the program that writes the list ends.',
  },
  'list-unusable': {
    category: 'usage',
    message: 'the file list holds NUL characters, so it is no list of lines',
    hint: 'A list holds one path on each line, in UTF-8: find with -print, not -print0.',
  },
  'progress-unknown': {
    category: 'usage',
    message: (d: { value: string }) => `CODESIGN_PROGRESS is "${d.value}"`,
    hint: 'It takes live, plain or none; without it, a live line is shown on a terminal, and nothing elsewhere.',
  },
  'output-lost': {
    category: 'local',
    message: (d: { reason: string }) =>
      `everything was done, but the result could not be written to standard output: ${d.reason}`,
    hint: 'Check where standard output leads. Files that were to be signed are signed: do not sign them again.',
  },
  'output-not-a-folder': {
    category: 'usage',
    message: (d: { path: string; count: number }) =>
      `--output ${d.path} is a file, but ${d.count} files are to be signed`,
    hint: 'For several files --output names a folder, which is made when it is not there.',
  },
  'output-is-input': {
    category: 'usage',
    message: (d: { output: string }) => `--output ${d.output} is the signed file itself`,
    hint: 'Name another file: the signature would take the place of what it signs.',
  },
  'output-is-folder': {
    category: 'usage',
    message: (d: { output: string }) => `--output ${d.output} is a folder`,
    hint: 'Name the file that the signature shall go to.',
  },
  'binary-to-terminal': {
    category: 'usage',
    message: 'a signature in DER is nothing for a terminal',
    hint: 'Write it to a file with --output, pipe it into another program, or take it as text with --pem.',
  },
  'nothing-to-extract': {
    category: 'local',
    message: (d: { index: number }) => `signature ${d.index} is empty, or damaged so that nothing of it can be read`,
    hint: 'codesign-remote inspect shows what is wrong with it.',
  },
  'index-invalid': {
    category: 'usage',
    message: (d: { text: string }) => `--index ${d.text} is no number of a signature`,
    hint: 'Signatures are numbered from 1: codesign-remote inspect shows them.',
  },
  'index-out-of-range': {
    category: 'usage',
    message: (d: { index: number; count: string }) => `there is no signature ${d.index}: the file holds ${d.count}`,
    hint: 'codesign-remote inspect shows them with their numbers, nested ones too.',
  },
  'no-terminal': {
    category: 'usage',
    message: 'nobody can be asked: standard input and standard error are no terminal',
    hint: (d: { instead: string }) => `${d.instead}`,
  },
  'no-answer': {
    category: 'usage',
    message: (d: { question: string }) => `the input ended before "${d.question}" was answered`,
    hint: 'Nothing was changed. Run again and answer, or end a run with Ctrl-C.',
  },
  'answer-unclear': {
    category: 'usage',
    message: 'please answer y or n',
  },
});
