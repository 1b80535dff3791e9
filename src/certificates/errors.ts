/** What can be wrong with the certificates given for signing. */

import { defineErrors } from '../errors/define-errors.ts';

export const certificateErrors = defineErrors({
  'certificate-file-too-large': {
    category: 'local',
    message: (d: { file: string; size: number; limit: number }) =>
      `${d.file}: ${d.size} bytes, too large for a certificate file (at most ${d.limit})`,
    hint: 'Use a file with the signing certificate and its issuers only.',
  },
  'certificate-file-unreadable': {
    category: 'local',
    message: (d: { file: string; problem: string }) => `${d.file}: not a certificate file: ${d.problem}`,
    hint: 'Use a certificate file in PEM, DER, PKCS#7 (.p7b) or PKCS#12 (.pfx, .p12) form.',
  },
  'certificate-not-given': {
    category: 'usage',
    message: 'no signing certificate is configured',
    hint: 'Set its file with --certificate or CODESIGN_CERTIFICATE.',
  },
  'certificate-missing': {
    category: 'local',
    message: (d: { file: string }) => `${d.file}: holds no certificate`,
    hint: 'Use the signing certificate and its issuers, as the certificate authority delivered them.',
  },
  'certificate-is-private-key': {
    category: 'local',
    message: (d: { file: string }) => `${d.file}: holds a private key, not a certificate`,
    hint: 'Use the certificate only: the key stays in the HSM of the service. If this key is in use, keep it away from build machines.',
  },
  'certificate-password-missing': {
    category: 'usage',
    message: (d: { file: string }) => `${d.file}: this PKCS#12 file needs a password, and none is configured`,
    hint: 'Set CODESIGN_CERTIFICATE_PASSWORD or CODESIGN_CERTIFICATE_PASSWORD_FILE, or use the certificates as PEM: their key is not needed.',
  },
  'certificate-password-wrong': {
    category: 'usage',
    message: (d: { file: string }) => `${d.file}: the password does not open this PKCS#12 file`,
    hint: 'Check CODESIGN_CERTIFICATE_PASSWORD or CODESIGN_CERTIFICATE_PASSWORD_FILE.',
  },
  'certificate-encryption-unsupported': {
    category: 'local',
    message: (d: { file: string; problem: string }) =>
      `${d.file}: PKCS#12 encrypted in a way that is not supported: ${d.problem}`,
    hint: 'Convert the certificates to PEM: openssl pkcs12 -in FILE -nokeys -out certificates.pem',
  },
  'certificate-bundle-too-large': {
    category: 'local',
    message: (d: { limit: number; what: string }) =>
      `more than ${d.limit} ${d.what}: too many to be one signing certificate with its issuers`,
    hint: 'Use a file with the signing certificate and its issuers only.',
  },
  'certificate-leaf-ambiguous': {
    category: 'local',
    message: (d: { names: string }) => `several certificates could be the signing certificate: ${d.names}`,
    hint: 'Use a file with one signing certificate and its issuers only.',
  },
  'certificate-not-rsa': {
    category: 'local',
    message: (d: { name: string; keyType: string }) =>
      `the certificate of ${d.name} has a key of type ${d.keyType}; the service signs with RSA (PKCS#1 v1.5) only`,
    hint: 'Use the RSA certificate whose number is in --code.',
  },
  'certificate-key-size': {
    category: 'local',
    message: (d: { name: string; bits: number; least: number; most: number }) =>
      `the certificate of ${d.name} has an RSA key of ${d.bits} bits; ${d.least} to ${d.most} are accepted`,
    hint: 'Ask the certificate authority for a new certificate: code-signing keys have at least 2048 bits, newer ones 3072 or 4096.',
  },
  'certificate-expired': {
    category: 'local',
    message: (d: { name: string; date: string }) => `the certificate of ${d.name} expired on ${d.date}`,
    hint: 'Use the renewed certificate, and its number at the service.',
  },
  'certificate-not-yet-valid': {
    category: 'local',
    message: (d: { name: string; date: string }) => `the certificate of ${d.name} is not valid before ${d.date}`,
    hint: "Check this machine's clock, or wait.",
  },
  'certificate-not-for-code-signing': {
    category: 'local',
    message: (d: { name: string; problem: string }) =>
      `the certificate of ${d.name} is not for code signing: ${d.problem}`,
    hint: 'Use a code-signing certificate: verifiers reject signatures of other certificates.',
  },
  'certificate-not-for-purpose': {
    category: 'local',
    message: (d: { name: string; purpose: string; problem: string }) =>
      `the certificate of ${d.name} is not for ${d.purpose}: ${d.problem}`,
    hint: 'Use a certificate for this purpose: verifiers of this format reject signatures of other certificates.',
  },
});
