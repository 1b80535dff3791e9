import { defineErrors, defineWarnings } from '../errors/define-errors.ts';

export const formatErrors = defineErrors('local', {
  'algorithm-differs': {
    message: 'a signature of this file must use {required}, not {algorithm}: {reason}',
    hint: 'Use --algorithm {required}, or omit the option.',
  },
  'cannot-append': {
    message: 'a signature cannot be appended to those in this file: {reason}',
    hint: ({ isAppendOnly }: { readonly isAppendOnly?: boolean }) =>
      isAppendOnly
        ? 'Use the version of the file from before it was changed.'
        : 'Use --replace to replace the existing signatures.',
  },
  'cannot-replace': {
    message: 'signatures in a file of this format cannot be replaced: {format}',
    hint: 'Use --append, or remove the signatures first.',
  },
  'extension-changes': {
    message: 'the result would have a different extension than the file: {extensions}',
    hint: 'Give the result the same extension as the file: it determines the form of the signature ({format}).',
  },
  'not-signed': {
    message: 'the file contains no signature',
    hint: 'Sign it first. codesign-remote inspect shows the contents of a file.',
  },
  'not-its-signature': {
    message: 'this signature does not belong to this file: {reason}',
    hint: 'Use the signature of exactly this content.',
  },
  'operation-unsupported': {
    message: 'files of this format cannot be {done}: {format}',
    hint: 'codesign-remote verify and inspect read such files.',
  },
  'signatures-kept': {
    message: 'the file contains {what}, which this command would remove',
    hint: 'Sign the file from before the upload. If the signature is no longer needed, use --replace, or remove it first.',
  },
  'result-damaged': {
    message: 'the signed file is not as expected: {reason}',
    hint: 'Try again. The original is unchanged; another program or a failing disk may have changed the copy.',
  },
  'unsupported-format': {
    message: 'not a file that can be signed: it {appearance}',
    hint: 'Supported formats: {formats}. The format is detected from the content; for scripts, connection files and JARs without a manifest, from the extension.',
  },
});

export const formatWarnings = defineWarnings({
  'hidden-bytes-dropped': 'bytes that no signature covers are hidden {where}; they are dropped',
});
