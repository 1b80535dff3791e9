/** Reasons why a NuGet package cannot be signed. */

import { defineErrors, defineWarnings } from '../../errors/define-errors.ts';

export const nugetErrors = defineErrors('local', {
  'nuget-zip64': {
    message: 'NuGet accepts no signature in an archive with ZIP64 records: {reason}',
    hint: 'Create the package with a program that writes no ZIP64 records, with at most 65,533 entries and less than 4 GiB.',
  },
  'nuget-signature-entry': {
    message: 'NuGet does not accept the entry {name} of the package: {problem}',
    hint: 'Use the package from before it was signed, or remove the entry with codesign-remote remove.',
  },
  'nuget-algorithm': {
    message: 'NuGet accepts no {what} with {algorithm}',
    hint: 'Use SHA256, SHA384 or SHA512.',
  },
  'nuget-certificate': {
    message: 'NuGet does not accept the certificate of "{name}": {problem}',
    hint: 'Use a code-signing certificate without the lifetime-signing purpose, whose RSA key has at least 2048 bits.',
  },
});

export const nugetWarnings = defineWarnings({
  'signature-lookalike':
    'the entry {name} is not a signature for NuGet, which requires {required} in lower case and without the UTF-8 flag',
});
