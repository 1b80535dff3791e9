import { defineErrors, defineWarnings } from '../../errors/define-errors.ts';

export const peErrors = defineErrors('local', {
  'not-a-pe': {
    message: 'the file is not a Windows PE program: it looks like {looksLike}',
    hint: 'Check that this is the right file. Only PE files (32-bit and 64-bit Windows, EFI) can contain this kind of signature.',
  },
  'unknown-optional-header': {
    message: 'the optional header at offset {offset} has an unknown type ({magic}): neither PE32 nor PE32+',
    hint: 'Build or download the file again. This file is damaged, or not meant for Windows.',
    isUnsupported: true,
  },
  'no-certificate-slot': {
    message: 'the header has no field for a signature: {reason}',
    hint: 'Link the program with the usual 16 data directories (at least 5); a packer or a size optimiser may have removed some of them.',
  },
  'certificate-table-not-last': {
    message:
      'the signatures extend from byte {offset} to byte {end}, but the file is {size} bytes long: signing would delete the bytes after the signatures',
    hint: 'Use the unsigned build, or remove the old signature before you append data. Either data was appended to a signed file, or the entry in the header is wrong.',
  },
  'certificate-table-overlaps': {
    message: 'the signatures begin at byte {offset}, but the {what} extends to byte {end}',
    hint: 'Build or download the file again. This file is damaged or malicious. Replacing these "signatures" would destroy the program.',
  },
  'page-hashes-impossible': {
    message: 'the program cannot have page hashes: {reason}',
    hint: 'Sign the program without --page-hashes, or link it with headers of at most one page and sections that do not overlap.',
  },
});

export const peWarnings = defineWarnings({
  'table-entry-stale':
    'the header lists {size} of signatures at byte {offset}, but there are none; this stale entry is replaced',
  'table-damaged': 'the table of signatures is damaged, and its content is dropped: {damage}',
  'table-entries-dropped': 'the file has {count} entries in its table of signatures; all of them are dropped',
  'table-entry-dropped': 'the table of signatures contains {what}; it is dropped',
});
