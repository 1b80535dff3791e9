import { defineErrors } from '../errors/define-errors.ts';
import { plural } from '../errors/plural.ts';

export const bytesErrors = defineErrors('local', {
  'file-malformed': {
    message: '{what} is malformed: {problem}',
    hint: 'Build or download the file again. This file is truncated, damaged or malicious.',
  },
  'file-truncated': {
    message: 'the file ends after {size} bytes, but {what} extends to byte {end}',
    hint: 'Build or download the file again. This file is truncated or damaged.',
  },
  'file-too-large': {
    message: 'the file is {size} bytes long, but only {kind} of up to {limit} bytes can be signed',
    hint: 'Check that this is the right file. If the file is the right one, move some of its data to another file.',
    isUnsupported: true,
  },
  'read-past-end': {
    message: (d: { readonly what: string; readonly length: number; readonly offset: number; readonly size: number }) =>
      `${d.what}: needs ${plural(d.length, 'byte')} at offset ${d.offset}, but the data has only ${plural(d.size, 'byte')}`,
    hint: 'Build or download the file again. This file is truncated or damaged.',
  },
  'file-shrunk': {
    message: (d: { readonly length: number; readonly offset: number }) =>
      `the file became shorter while it was read (${plural(d.length, 'byte')} wanted at offset ${d.offset})`,
    hint: 'Sign the file again after the program that writes to it has finished.',
  },
  'pieces-invalid': {
    category: 'internal',
    message: 'the pieces of a file cannot be combined: {problem}',
    hint: 'Run the command again with --verbose and report the output. This is a bug in codesign-remote.',
  },
});
