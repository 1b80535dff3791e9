import { defineErrors, defineWarnings } from '../errors/define-errors.ts';
import { plural } from '../errors/plural.ts';

export const formatErrors = defineErrors('local', {
  'algorithm-differs': {
    message: 'a signature for this file must use {required}, not {algorithm}: {reason}',
    hint: 'Use --algorithm {required}, or omit the option.',
  },
  'cannot-append': {
    message: 'a signature cannot be appended to the signatures in this file: {reason}',
    hint: ({ isAppendOnly }: { readonly isAppendOnly?: boolean }) =>
      isAppendOnly ? 'Use the file as it was before the change.' : 'Use --replace to replace the existing signatures.',
  },
  'cannot-replace': {
    message: 'signatures in a file of this format cannot be replaced: {format}',
    hint: 'Use --append, or remove the signatures first.',
  },
  'container-unsupported': {
    message: 'the files inside the container were not verified: codesign-remote cannot open {kind}',
    hint: 'Unpack the file, and verify the folder with the unpacked files too.',
    isUnsupported: true,
  },
  'contents-too-large': {
    message: 'the unpacked contents of the file are too large: {problem}',
    hint: 'Check where the file comes from. Genuine packages do not contain so much data.',
    isUnsupported: true,
  },
  'extension-changes': {
    message: 'the output file would have a different extension from the input file: {extensions}',
    hint: 'Give the output file the same extension as the input file, because the extension determines the form of the signature ({format}).',
  },
  'not-signed': {
    message: 'the file contains no signature',
    hint: 'Sign the file first. Run codesign-remote inspect to see the contents of the file.',
  },
  'not-its-signature': {
    message: 'this signature does not belong to this file: {reason}',
    hint: 'Use the signature that was made for exactly this content.',
  },
  'operation-unsupported': {
    message: 'files of this format cannot be {done}: {format}',
    hint: 'Use codesign-remote verify or codesign-remote inspect to read such files.',
  },
  'signatures-kept': {
    message: 'the file contains {what}, which this command would remove',
    hint: 'Sign a copy of the file without this signature, such as the original build output. To discard the signature, use --replace, or remove the signature first.',
  },
  'result-damaged': {
    message: 'the signed file is not as expected: {reason}',
    hint: 'Try again. The original file is unchanged. Another program or a failing disk may have changed the signed copy.',
  },
  'trailing-bytes': {
    message: (d: { length: number; what: string; end: number }) =>
      `the file has ${plural(d.length, 'byte')} after ${d.what}, starting at byte ${d.end}`,
    hint: 'Use the original build output, without the appended data, which no signature would cover.',
  },
  'unsupported-format': {
    message: 'the file cannot be signed: it {appearance}',
    hint: 'Supported formats: {formats}. The format is detected from the content; for scripts, connection files and JARs without a manifest, from the extension.',
  },
});

export const formatWarnings = defineWarnings({
  'hidden-bytes-dropped': 'bytes that no signature covers are hidden {where}; they are dropped',
});

export function damagedResult(reason: string, cause?: unknown) {
  return formatErrors('result-damaged', { reason }, { cause });
}
