/** What can be wrong with a PE file that is to be signed. */

import { defineErrors } from '../../errors/define-errors.ts';

export const peErrors = defineErrors({
  'not-a-pe': {
    category: 'local',
    message: (d: { looksLike: string }) => `not a Windows PE program: it looks like ${d.looksLike}`,
    hint: 'Only PE files (32 and 64 bit Windows, EFI) can hold an Authenticode signature. Check that this is the right file.',
  },
  'truncated-pe': {
    category: 'local',
    message: (d: { size: number; what: string; end: number }) =>
      `the file ends after ${d.size} bytes, but its ${d.what} reaches up to byte ${d.end}`,
    hint: 'The file is truncated or damaged. Build or download it again.',
  },
  'unknown-optional-header': {
    category: 'local',
    message: (d: { offset: number; magic: string }) =>
      `the optional header at offset ${d.offset} is of an unknown kind (${d.magic}): neither PE32 nor PE32+`,
    hint: 'The file is damaged, or not meant for Windows. Build or download it again.',
  },
  'no-certificate-slot': {
    category: 'local',
    message: (d: { reason: string }) => `the header has no field for a signature: ${d.reason}`,
    hint: 'Link the program with the usual 16 data directories (at least 5); a packer or a size optimiser may have cut them off.',
  },
  'pe-too-large': {
    category: 'local',
    message: (d: { size: number }) =>
      `the file is ${d.size} bytes long, and a signed PE file cannot be longer than 4 GiB`,
    hint: 'Offsets in a PE header have 32 bits. Move data out of the program.',
  },
  'certificate-table-not-last': {
    category: 'local',
    message: (d: { offset: number; end: number; size: number }) =>
      `the header says the signatures are at byte ${d.offset} up to ${d.end}, but the file goes on to byte ${d.size}: no signature covers what comes after, and it would be lost`,
    hint: 'Start from the unsigned build, or remove the old signature before data is appended. Data was appended to a signed file, or the header entry is wrong.',
  },
  'certificate-table-overlaps': {
    category: 'local',
    message: (d: { offset: number; what: string; end: number }) =>
      `the header says the signatures begin at byte ${d.offset}, inside the ${d.what} (up to byte ${d.end})`,
    hint: 'The file is damaged or malicious: replacing these "signatures" would destroy the program. Build or download it again.',
  },
});
