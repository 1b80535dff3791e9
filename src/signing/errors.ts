/** What can go wrong while files are signed, beside what the formats and the service say. */

import { defineErrors } from '../errors/define-errors.ts';

export const signingErrors = defineErrors({
  'file-not-found': {
    category: 'local',
    message: 'there is no such file',
    hint: 'Check the path. A pattern with * must match at least one file.',
  },
  'not-a-file': {
    category: 'local',
    message: (d) => `this is ${d.kind}, not a file`,
    hint: 'Name the files to be signed; --recursive takes a folder.',
  },
  'permission-denied': {
    category: 'local',
    message: (d) => `no permission to ${d.doing}`,
    hint: 'Signing needs to read the file, and to write to it and to its folder. Check the owner and the permissions, or use --output.',
  },
  'read-only-file': {
    category: 'local',
    message: (d) => `${d.path} is read-only`,
    hint: 'Make it writable first (chmod u+w, attrib -r), or write the signed file elsewhere with --output.',
  },
  'disk-full': {
    category: 'local',
    message: (d) => `no space left on the disk to ${d.doing}`,
    hint: 'Signing writes a copy beside the target first: it needs as much free space as the file is large.',
  },
  'file-busy': {
    category: 'local',
    message: (d) => `another program holds the file, so it was not possible to ${d.doing}`,
    hint: 'Close the program that uses it. Antivirus programs and indexers let go after a moment: try again.',
  },
  'file-system': {
    category: 'local',
    message: (d) => `could not ${d.doing}: ${d.reason}`,
    hint: 'Check the disk and the path.',
  },
  'unsupported-format': {
    category: 'local',
    message: (d) => `not a file that can be signed: it looks like ${d.looksLike}`,
    hint: (d) => `Formats that can be signed: ${d.formats}. What counts is the content, not the name.`,
  },
  'file-changed': {
    category: 'local',
    message: 'the file changed while it was being signed, so it was left as it is now',
    hint: 'Another program is writing to it. Sign it when that has finished.',
  },
  'copy-differs': {
    category: 'local',
    message: 'the disk gave back other bytes than were written to the temporary file',
    hint: 'Check the disk and the memory of this machine. The file is untouched.',
  },
  'output-conflict': {
    category: 'local',
    message: (d) => `the result would be written to ${d.target}, which is the place of another file of this run`,
    hint: 'Sign such files in separate runs, with different --output folders.',
  },
  'not-replaceable': {
    category: 'local',
    message: (d) => `${d.path} cannot be replaced: ${d.reason}`,
    hint: 'Signing writes a new file and renames it into place. Write the signed file elsewhere with --output.',
  },
  'signature-mismatch': {
    category: 'local',
    message: (d) => `the service's signature does not verify with the certificate "${d.certificate}"${d.why ?? ''}`,
    hint: (d) =>
      `The most likely cause: certificate number ${d.code} at the service is not the certificate given with --certificate. Nothing more was asked of the service.`,
  },
  'not-attempted': {
    category: 'local',
    message: (d) => `not signed, because ${d.reason}`,
    hint: 'No signature was asked for this file. Run again for it.',
  },
});
