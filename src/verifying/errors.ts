/** Errors in the trusted roots, CRLs and catalogs that `verify` uses. */

import { defineErrors } from '../errors/define-errors.ts';

export const verifyingErrors = defineErrors('usage', {
  'roots-unreadable': {
    message: 'the trusted roots in {path} ({option}) cannot be read: {reason}',
    hint: 'Use a PEM or DER file of root certificates that the current user can read.',
  },
  'roots-unusable': {
    message: 'the trusted roots ({option}) cannot be used: {problem}',
    hint: 'Use a file that contains root certificates in PEM ("-----BEGIN CERTIFICATE-----") or DER format.',
  },
  'catalog-unusable': {
    message: '{path} (--catalog) cannot be used as a security catalog: {problem}',
    hint: 'Set --catalog to the .cat file, and pass the files that it lists as arguments.',
  },
  'crl-file-unreadable': {
    message: 'the CRL file {path} cannot be read: {reason}',
    hint: 'Set --crl-file to the path of a CRL that the current user can read.',
  },
  'crl-file-unusable': {
    message: 'the CRL file {path} cannot be used: {problem}',
    hint: 'Use a file that contains CRLs in PEM ("-----BEGIN X509 CRL-----") or DER format.',
  },
});
