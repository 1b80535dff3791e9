/** What can be wrong with what a verification is given: roots to trust, lists of revoked certificates. */

import { defineErrors } from '../errors/define-errors.ts';

export const verifyingErrors = defineErrors({
  'roots-unreadable': {
    category: 'usage',
    message: (d: { path: string; option: string; reason: string }) =>
      `the file of trusted roots ${d.path} (${d.option}) cannot be read: ${d.reason}`,
    hint: 'Use a PEM or DER file of root certificates that this user can read.',
  },
  'roots-unusable': {
    category: 'usage',
    message: (d: { option: string; problem: string }) =>
      `the file of trusted roots (${d.option}) cannot be used: ${d.problem}`,
    hint: 'It must hold one or more root certificates, as PEM ("-----BEGIN CERTIFICATE-----") or DER.',
  },
  'crl-file-unreadable': {
    category: 'usage',
    message: (d: { path: string; reason: string }) =>
      `the file of revoked certificates ${d.path} cannot be read: ${d.reason}`,
    hint: 'Set --crl-file to the path of a CRL that this user can read.',
  },
  'crl-file-unusable': {
    category: 'usage',
    message: (d: { path: string; problem: string }) =>
      `the file of revoked certificates ${d.path} cannot be used: ${d.problem}`,
    hint: 'It must hold one or more CRLs, as PEM ("-----BEGIN X509 CRL-----") or DER.',
  },
});
