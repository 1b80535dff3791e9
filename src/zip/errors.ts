import { defineErrors } from '../errors/define-errors.ts';

export const zipErrors = defineErrors('local', {
  'zip-malformed': {
    message: 'the ZIP archive is damaged: {problem}',
    hint: 'Build or download the file again. This file is truncated or damaged.',
  },
  'zip-ambiguous': {
    message: 'the ZIP archive can be read in different ways: {problem}',
    hint: 'Build the archive again with a different program. Different readers could see different contents under the same signature.',
  },
  'zip-unsupported': {
    message: 'the ZIP archive can neither be signed nor verified: {problem}',
    hint: 'Build the archive as one file, with stored or deflated entries and without encryption.',
    isUnsupported: true,
  },
  'zip-name-refused': {
    message: 'an entry of the ZIP archive has a name that can be neither signed nor verified: {name} {problem}',
    hint: 'Rename the entry and build the archive again.',
  },
  'zip-entry-damaged': {
    message: 'the entry {name} of the ZIP archive is damaged: {problem}',
    hint: 'Build or download the file again.',
  },
});
