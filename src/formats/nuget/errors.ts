import { defineErrors, defineWarnings } from '../../errors/define-errors.ts';

export const nugetErrors = defineErrors('local', {
  'nuget-zip64': {
    message: 'NuGet rejects a signature in an archive with ZIP64 records: {reason}',
    hint: 'Create the package without ZIP64 records. A package without ZIP64 records can have at most 65,533 entries and less than 4 GiB.',
  },
  'nuget-signature-entry': {
    message: 'NuGet does not accept the entry {name} of the package: {problem}',
    hint: 'Use the package as it was before signing, or run codesign-remote remove to remove the entry.',
  },
  'nuget-algorithm': {
    message: 'NuGet does not accept a {what} with {algorithm}',
    hint: 'Use SHA256, SHA384 or SHA512.',
  },
  'nuget-certificate': {
    message: 'NuGet does not accept the certificate of "{name}": {problem}',
    hint: 'Use a code-signing certificate that has an RSA key of at least 2048 bits, but not the lifetime-signing purpose.',
  },
});

export const nugetWarnings = defineWarnings({
  'signature-lookalike':
    'the entry {name} is not a signature for NuGet, which requires {required} in lower case and without the UTF-8 flag',
});
