import { defineErrors } from '../../errors/define-errors.ts';

export const pdfSigningErrors = defineErrors('local', {
  'pdf-xfa': {
    message: 'the document is an XFA form, whose content a PDF signature does not cover reliably',
    hint: 'Convert the document to a form without XFA (AcroForm), or print it to a PDF file.',
  },
  'pdf-changes-forbidden': {
    message: 'a signature in the document forbids further signatures: {reason}',
    hint: 'Use a copy of the document from before that signature, or ask the signer for a certification that permits more signatures.',
  },
  'pdf-certify-not-first': {
    message: 'the document is signed, and only the first signature can certify it',
    hint: 'Omit --certify, or certify the document before others sign it.',
  },
  'pdf-field-unusable': {
    message: 'the field "{field}" cannot be signed: {reason}',
    hint: 'Use a different field, or omit --field to add an invisible field. Run codesign-remote inspect to list the empty fields.',
  },
  'pdf-text-invalid': {
    category: 'usage',
    message: 'the text of {flag} {problem}',
    hint: 'Use a short text without line breaks.',
  },
  'pdf-result-broken': {
    message: 'the document would not pass verification after another signature: {reason}',
    hint: 'Rewrite the document (qpdf in.pdf out.pdf), and sign the result. Rewriting makes existing signatures invalid.',
  },
  'pdf-space-too-small': {
    message: 'the signature is {length} bytes long, but the document reserves only {space} for it',
    hint: 'Use a timestamp authority whose tokens contain fewer certificates, or sign without a timestamp.',
  },
  'pdf-offsets-too-large': {
    message: 'the document is {size} bytes long, but offsets in its cross-reference table have only ten digits',
    hint: 'First rewrite the document with a cross-reference stream (qpdf --object-streams=generate in.pdf out.pdf).',
  },
  'pdf-cannot-remove': {
    message: 'the last change to the document cannot be removed: {reason}',
    hint: 'Use a copy of the document from before it was signed.',
  },
});
