/** Errors in the structure of a PDF document. */

import { defineErrors } from '../errors/define-errors.ts';

export const pdfErrors = defineErrors('local', {
  'pdf-malformed': {
    message: 'the document is malformed at byte {offset}: {problem}',
    hint: 'Write the document again with the program that made it, or repair it (qpdf in.pdf out.pdf).',
  },
  'pdf-header-late': {
    message: 'the document starts at byte {offset} of the file, after other data',
    hint: 'Write the document again without that data (qpdf in.pdf out.pdf): PDF readers count offsets from the start of the file or from that of the document, so a signature would not be valid in all of them.',
    isUnsupported: true,
  },
  'pdf-cross-reference-broken': {
    message: "the document's cross-reference is broken: {problem}",
    hint: 'Repair the document first (qpdf in.pdf out.pdf): PDF readers repair it in different ways, so a signature would not show the same content in all of them.',
  },
  'pdf-encrypted': {
    message: 'the document is encrypted',
    hint: 'Sign a document without encryption, for example one that qpdf --decrypt has written.',
    isUnsupported: true,
  },
  'pdf-too-large': {
    message: 'the document has more than {limit} {what}',
    hint: 'Do not trust this document: no known program creates such a document. Write it again (qpdf in.pdf out.pdf).',
    isUnsupported: true,
  },
});
