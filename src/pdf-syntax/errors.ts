import { defineErrors } from '../errors/define-errors.ts';

export const pdfErrors = defineErrors('local', {
  'pdf-malformed': {
    message: 'the document is malformed at byte {offset}: {problem}',
    hint: 'Create the document again, or repair it (qpdf in.pdf out.pdf).',
  },
  'pdf-header-late': {
    message: 'the document starts at byte {offset} of the file, after other data',
    hint: 'Rewrite the document without that data (qpdf in.pdf out.pdf). PDF readers disagree about where offsets start, so some of them would reject a signature.',
    isUnsupported: true,
  },
  'pdf-cross-reference-broken': {
    message: "the document's cross-reference data is broken: {problem}",
    hint: 'Repair the document first (qpdf in.pdf out.pdf). PDF readers repair such a document in different ways, so they would show different content under one signature.',
  },
  'pdf-encrypted': {
    message: 'the document is encrypted',
    hint: 'Remove the encryption first, for example with qpdf --decrypt.',
    isUnsupported: true,
  },
  'pdf-too-large': {
    message: 'the document has more than {limit} {what}',
    hint: 'Do not trust this document. No known program creates such a document. Rewrite the document (qpdf in.pdf out.pdf).',
    isUnsupported: true,
  },
});
