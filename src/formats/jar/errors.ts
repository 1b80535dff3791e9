import { defineErrors } from '../../errors/define-errors.ts';

export const jarErrors = defineErrors('local', {
  'manifest-invalid': {
    message: 'META-INF/MANIFEST.MF, line {line}: {problem}',
    hint: 'Correct the manifest and build the archive again: Java does not open an archive with such a manifest.',
  },
  'manifest-too-large': {
    message: '{file} has {size} bytes, and Java does not open a signed archive if it has more than {limit}',
    hint: 'Split the archive, or give its entries shorter names.',
  },
  'jar-too-many-signatures': {
    message: 'the archive has more than {limit} signature files and blocks',
    hint: 'Do not trust this archive: no signing program creates such an archive. Build or download it again.',
  },
  'jar-blocks-too-large': {
    message: 'the signature blocks up to {name} have more than {limit} bytes together',
    hint: 'Do not trust this archive: no signing program creates such an archive. Build or download it again.',
  },
  'jar-bytes-uncovered': {
    message: 'a signature would not cover the whole file: {problem}',
    hint: 'Remove the bytes: verifiers reject such a file. A file with a script or launcher before the archive needs a name that ends in .jar, .war, .ear, .rar, .aar or .aab.',
  },
  'jar-too-many-digests': {
    message: 'the manifest has more digests of {name} than are checked',
    hint: 'Build the archive again without digests in its manifest; signing adds them.',
  },
  'jar-unsigned-result': {
    message: 'Java treats an archive signed with {algorithm} as unsigned',
    hint: 'Use SHA256, SHA384 or SHA512.',
  },
  'jar-unsigned-timestamp': {
    message: 'Java treats an archive with a timestamp by {algorithm} as unsigned',
    hint: 'Use SHA256, SHA384 or SHA512 for the timestamp (--timestamp-algorithm).',
  },
  'signer-name-taken': {
    message: 'META-INF/{name}.SF is the signature of "{signer}", which --append keeps',
    hint: 'Choose another name with --signer-name, or omit the option: a free name is then used.',
  },
});
