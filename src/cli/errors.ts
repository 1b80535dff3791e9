import { defineErrors, defineWarnings } from '../errors/define-errors.ts';

export const cliErrors = defineErrors('usage', {
  'invalid-usage': {
    message: '{message}',
    hint: 'See {help}.',
  },
  'error-code-unknown': {
    category: 'usage',
    message: (d: { code: string }) => `"${d.code}" is not an error code`,
    hint: (d: { suggestion: string; folder: string }) =>
      `${d.suggestion}All error codes are listed in errors.md in ${d.folder}.`,
  },
  'foreign-option': {
    message: '{problem}',
    hint: '{advice}',
  },
  'secret-as-argument': {
    message: '{options}: secrets are not accepted as arguments',
    hint: 'If you typed a secret, change it. Other users of this machine can see arguments, and the shell history keeps them. Use codesign-remote login for the access secret, and CODESIGN_CERTIFICATE_PASSWORD_FILE for the password of a certificate file.{others}',
  },
  'no-files': {
    message: 'no files were given',
    hint: 'Name at least one file, a pattern such as "dist/*.exe", a list as @list.txt, or - for a list on standard input.',
  },
  'policy-exists': {
    category: 'local',
    message: '{path} already exists',
    hint: 'Remove the file first, or choose a path in another folder with --output. The root certificates are written to the same folder as the policy.',
  },
  'output-without-policy': {
    message: '--output has no effect on verify without --print-policy',
    hint: 'Omit --output. Without --print-policy, verify writes its results to standard output.',
  },
  'catalog-output-missing': {
    message: 'no path was given for the catalog',
    hint: 'Set the path of the catalog with --output: codesign-remote catalog -o files.cat <files>',
  },
  'catalog-member-unusable': {
    category: 'local',
    message: '{path} cannot be listed in the catalog: {reason}',
    hint: (d: { readonly advice?: string | undefined }) => d.advice ?? 'Leave the file out, or build it again.',
  },
  'catalog-member-changed': {
    category: 'local',
    message: '{path} changed while the catalog was being created; nothing was written',
    hint: 'Run the command again after the program that writes to the file has finished.',
  },
  'all-excluded': {
    message: 'no files are left, because --exclude matches all of them',
    hint: 'Check the patterns. A pattern without a slash matches names in every folder; a pattern with a slash matches paths relative to the working folder.',
  },
  'standard-input-twice': {
    message: 'standard input (-) can be read only once',
    hint: 'Use - only once, and write all paths to standard input.',
  },
  'folder-not-recursive': {
    message: '{path} is a folder',
    hint: 'Add --recursive to process the supported files in the folder, or name the files. Patterns in quotes match only files, not folders.',
  },
  'nothing-matches': {
    message: 'no file matches {pattern}',
    hint: 'Check the pattern and the current folder. Except on Windows, use forward slashes.',
  },
  'nothing-to-sign': {
    message: 'the folder contains no file of a supported format',
    hint: 'To see why a file is not supported, pass its path. The format of a file is detected from its content. Catalogs, RDP files, PDF documents and .js files are signed only if you name them explicitly. The folder of --output is not searched.',
  },
  'list-unreadable': {
    message: 'the file list {path} cannot be read: {reason}',
    hint: 'Check the path of the file list. A file list has one path per line, in UTF-8. Write ./@name for a file whose own name starts with @.',
  },
  'list-too-large': {
    message: 'the file list contains {what}',
    hint: 'Check that the list has one path per line, and that the program that writes the list stops.',
  },
  'list-unusable': {
    message: 'the file list contains NUL characters',
    hint: 'Write one path per line, in UTF-8: use find with -print, not -print0.',
  },
  'progress-unknown': {
    message: 'CODESIGN_PROGRESS is "{value}"',
    hint: 'Set CODESIGN_PROGRESS to live, plain or none. By default, the live progress line is shown only on terminals.',
  },
  'output-lost': {
    category: 'local',
    message: 'the run succeeded, but its result could not be written to standard output: {reason}',
    hint: 'Check the file or program that receives standard output. If the command was "sign", do not run it again. The files are already signed.',
  },
  'output-not-a-folder': {
    message: '--output {path} is a file, but there are {count} input files',
    hint: 'Set --output to the path of a folder. The folder is created if it does not exist.',
  },
  'checksums-conflict': {
    message: '--checksums {path} is also an input or output file in this run: {file}',
    hint: 'Choose a different file for the checksums, for example SHA256SUMS.',
  },
  'checksums-not-replaceable': {
    message: '--checksums {path} exists and is not a checksum file; nothing was sent',
    hint: 'Choose a different file for the checksums, or remove the existing file.',
  },
  'checksums-incomplete': {
    category: 'local',
    message: 'the checksum file {path} does not list the files that failed: {files}',
    hint: 'Run the same command again. The command uses the signatures that were already paid for.',
  },
  'output-is-input': {
    message: '--output {output} is the input file',
    hint: 'Choose a different file. The signature would overwrite the signed file.',
  },
  'output-exists': {
    category: 'local',
    message: '{output} already exists',
    hint: 'Use --replace to replace the file, or choose a different path.',
  },
  'output-is-folder': {
    message: '--output {output} is a folder',
    hint: 'Set --output to the path of a file.',
  },
  'binary-to-terminal': {
    message: 'a signature in DER format cannot be shown on a terminal',
    hint: 'Write the signature to a file with --output, pipe it into another program, or print it as text with --pem.',
  },
  'nothing-to-extract': {
    category: 'local',
    message: 'signature {index} is empty, or too damaged to be read',
    hint: 'Run codesign-remote inspect to see what is wrong with the signature.',
  },
  'index-invalid': {
    message: '--index must be the number of a signature',
    hint: 'Use a number that codesign-remote inspect shows. The first signature has the number 1.',
  },
  'index-out-of-range': {
    message: 'signature {index} does not exist: the file contains {count}',
    hint: 'Run codesign-remote inspect to see the numbers of all signatures, including nested ones.',
  },
  'no-terminal': {
    message:
      'this command asks questions and therefore needs a terminal, but standard input or standard error is redirected',
    hint: '{instead}',
  },
  'no-answer': {
    message: 'the input ended before the answer to "{question}"',
    hint: 'Run the command again and answer the question. Nothing was changed.',
  },
  'answer-unclear': {
    message: 'please answer y or n',
  },
});

export const cliWarnings = defineWarnings({
  'run-interrupted': 'interrupted: waiting for requested signatures only; a second interrupt ends the run immediately',
  'interrupt-ignored':
    'the second interrupt was ignored, because it came within a second of the first one, and npm sends every interrupt twice',
  'job-summary-failed': 'the job summary could not be written ({reason})',
  'environment-wins':
    'CODESIGN_ACCESS_KEY or CODESIGN_ACCESS_SECRET is set in the environment, which takes precedence over stored credentials',
  'environment-stays':
    'the environment still contains credentials: CODESIGN_ACCESS_KEY, CODESIGN_ACCESS_SECRET or CODESIGN_ACCESS_SECRET_FILE',
  'credentials-not-encrypted':
    '{path} is not encrypted: anyone who can read your files, or a backup of them, can sign with these credentials',
  'other-address-stored':
    'profile {profile} has another address, {stored}; these credentials are not sent there. To change the address: {command}',
  'no-certificate-found': '{path}: contains no certificate',
  'several-signatures':
    '{path}: contains {count}; this is number 1; use --index to select another (see codesign-remote inspect)',
});
