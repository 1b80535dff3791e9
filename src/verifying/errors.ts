/** Errors in the input of a verification: trusted roots and lists of revoked certificates. */

import { defineErrors } from '../errors/define-errors.ts';

export const verifyingErrors = defineErrors('usage', {
  'roots-unreadable': {
    message: 'the file of trusted roots {path} ({option}) cannot be read: {reason}',
    hint: 'Use a PEM or DER file of root certificates that this user can read.',
  },
  'roots-unusable': {
    message: 'the file of trusted roots ({option}) cannot be used: {problem}',
    hint: 'Use a file with one or more root certificates, as PEM ("-----BEGIN CERTIFICATE-----") or DER.',
  },
  'catalog-unusable': {
    message: '{path} (--catalog) cannot be used as a security catalog: {problem}',
    hint: 'Name the .cat file with --catalog, and the files that it lists as arguments.',
  },
  'crl-file-unreadable': {
    message: 'the file of revoked certificates {path} cannot be read: {reason}',
    hint: 'Set --crl-file to the path of a CRL that this user can read.',
  },
  'crl-file-unusable': {
    message: 'the file of revoked certificates {path} cannot be used: {problem}',
    hint: 'Use a file with one or more CRLs, as PEM ("-----BEGIN X509 CRL-----") or DER.',
  },
});
