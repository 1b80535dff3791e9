import { defineErrors, defineWarnings } from '../../errors/define-errors.ts';

export const jarErrors = defineErrors('local', {
  'manifest-invalid': {
    message: 'META-INF/MANIFEST.MF, line {line}: {problem}',
    hint: 'Correct the manifest and build the archive again: Java cannot open an archive with such a manifest.',
  },
  'manifest-too-large': {
    message: '{file} is {size} bytes long, but Java opens a signed archive only if this file has at most {limit}',
    hint: 'Split the archive, or give its entries shorter names.',
    isUnsupported: true,
  },
  'jar-too-many-signatures': {
    message: 'the archive has more than {limit} signature files and blocks',
    hint: 'Do not trust this archive. No signing program creates such an archive. Build or download the archive again.',
    isUnsupported: true,
  },
  'jar-blocks-too-large': {
    message: 'the signature blocks up to {name} have more than {limit} bytes in total',
    hint: 'Do not trust this archive. No signing program creates such an archive. Build or download the archive again.',
    isUnsupported: true,
  },
  'jar-bytes-uncovered': {
    message: 'a signature would not cover the whole file: {problem}',
    hint: 'Remove the bytes that no signature would cover. Verifiers reject files that contain such bytes. A file with a script or launcher before the archive needs a name that ends in .jar, .war, .ear, .rar, .aar or .aab.',
  },
  'jar-too-many-digests': {
    message: 'the manifest has more digests for {name} than this program checks',
    hint: 'Build the archive again without digests in its manifest; signing adds them.',
    isUnsupported: true,
  },
  'jar-unsigned-result': {
    message: 'Java treats an archive signed with {algorithm} as unsigned',
    hint: 'Use SHA256, SHA384 or SHA512.',
  },
  'jar-unsigned-timestamp': {
    message: 'Java treats an archive with a {algorithm} timestamp as unsigned',
    hint: 'Use SHA256, SHA384 or SHA512 for the timestamp (--timestamp-algorithm).',
  },
  'signer-name-taken': {
    message: 'META-INF/{name}.SF belongs to the signature by "{signer}", which --append keeps',
    hint: 'Choose a different name with --signer-name, or omit the option to use a free name.',
  },
});

export const jarWarnings = defineWarnings({
  'bytes-after-archive': 'the archive is followed by {size}, kept and not signed',
  'entries-unstreamable':
    "Java's stream readers, and the jarsigner of its newer versions, cannot read {entries}: stored, with a data descriptor",
  'nothing-to-list': 'the archive contains no file to sign except its manifest',
  'manifest-missing': 'the archive has no manifest; one is added',
  'manifest-renamed': 'the manifest is named {name}, a name that Java does not verify; it is renamed to {required}',
  'manifest-line-open': 'the last line of the manifest has no line break, so Java ignores it; a line break is added',
  'manifest-section-unused':
    'the manifest has a section for {entries}, which the archive does not contain; the section stays and is not signed',
  'signature-incomplete': 'there is no {missing} for {entries}: it is not a signature',
});
