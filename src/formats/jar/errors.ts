/** What can be wrong with a JAR that is to be signed; damaged archives have the errors of src/zip. */

import { defineErrors } from '../../errors/define-errors.ts';

export const jarErrors = defineErrors({
  'manifest-invalid': {
    category: 'local',
    message: (d: { line: number; problem: string }) => `META-INF/MANIFEST.MF, line ${d.line}: ${d.problem}`,
    hint: 'Java does not open an archive with such a manifest. Correct it and build the archive again.',
  },
  'manifest-too-large': {
    category: 'local',
    message: (d: { file: string; size: number; limit: number }) =>
      `${d.file} has ${d.size} bytes, and Java does not open a signed archive if it has more than ${d.limit}`,
    hint: 'Split the archive, or give its entries shorter names.',
  },
  'jar-too-many-signatures': {
    category: 'local',
    message: (d: { limit: number }) => `the archive has more than ${d.limit} signature files and blocks`,
    hint: 'No signing program creates such an archive: do not trust it. Build or download it again.',
  },
  'jar-blocks-too-large': {
    category: 'local',
    message: (d: { name: string; limit: number }) =>
      `the signature blocks up to ${d.name} have more than ${d.limit} bytes together`,
    hint: 'No signing program creates such an archive: do not trust it. Build or download it again.',
  },
  'jar-bytes-uncovered': {
    category: 'local',
    message: (d: { problem: string }) => `a signature would not cover the whole file: ${d.problem}`,
    hint: 'A verifier rejects such a file. Remove the bytes. A file with a script or launcher before the archive must have a name that ends in .jar, .war, .ear, .rar or .aar.',
  },
  'jar-too-many-digests': {
    category: 'local',
    message: (d: { count: number }) =>
      `the manifest has digests of large files by more algorithms than verify checks (${d.count})`,
    hint: 'Remove old digests from the manifest with codesign-remote remove, then sign the result.',
  },
  'jar-unsigned-result': {
    category: 'local',
    message: (d: { algorithm: string }) => `Java treats an archive signed with ${d.algorithm} as unsigned`,
    hint: 'Use SHA256, SHA384 or SHA512. For old programs, --allow-unsigned-result signs it anyway.',
  },
  'jar-unsigned-timestamp': {
    category: 'local',
    message: (d: { algorithm: string }) => `Java treats an archive with a timestamp by ${d.algorithm} as unsigned`,
    hint: 'Use SHA256, SHA384 or SHA512 for the timestamp (--timestamp-algorithm).',
  },
  'signer-name-taken': {
    category: 'local',
    message: (d: { name: string; signer: string }) =>
      `META-INF/${d.name}.SF is the signature of "${d.signer}", which --append keeps`,
    hint: 'Choose another name with --signer-name, or omit the option: a free name is then used.',
  },
});
