/** What can be wrong with the certificates given for signing. */

import { defineErrors } from '../errors/define-errors.ts';

export const certificateErrors = defineErrors({
  'certificate-file-too-large': {
    category: 'local',
    message: (d: { file: string; size: number; limit: number }) =>
      `${d.file}: ${d.size} bytes, too large for a certificate file (at most ${d.limit})`,
    hint: 'Give the signing certificate and its issuers alone.',
  },
  'certificate-file-unreadable': {
    category: 'local',
    message: (d: { file: string; problem: string }) => `${d.file}: not a certificate file: ${d.problem}`,
    hint: 'Give the certificate as PEM, DER, PKCS#7 (.p7b) or PKCS#12 (.pfx, .p12).',
  },
  'certificate-not-given': {
    category: 'usage',
    message: 'no signing certificate is given',
    hint: 'Name its file with --certificate or CODESIGN_CERTIFICATE.',
  },
  'certificate-missing': {
    category: 'local',
    message: (d: { file: string }) => `${d.file}: holds no certificate`,
    hint: 'Give the signing certificate and its issuers, as the certificate authority delivered them.',
  },
  'certificate-is-private-key': {
    category: 'local',
    message: (d: { file: string }) => `${d.file}: holds a private key, not a certificate`,
    hint: 'The key stays in the HSM of the service: here only the certificate is needed. If this key is a real one, keep it away from build machines.',
  },
  'certificate-password-missing': {
    category: 'usage',
    message: (d: { file: string }) => `${d.file}: a PKCS#12 file with a password, and none is given`,
    hint: 'Set CODESIGN_CERTIFICATE_PASSWORD or CODESIGN_CERTIFICATE_PASSWORD_FILE, or give the certificates as PEM: their key is not needed.',
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
    hint: 'Give the certificates as PEM: openssl pkcs12 -in FILE -nokeys -out certificates.pem',
  },
  'certificate-bundle-too-large': {
    category: 'local',
    message: (d: { limit: number; what: string }) =>
      `more than ${d.limit} ${d.what}: too many to be one signing certificate with its issuers`,
    hint: 'Give the signing certificate and its issuers alone.',
  },
  'certificate-leaf-ambiguous': {
    category: 'local',
    message: (d: { names: string }) => `several certificates could be the signing certificate: ${d.names}`,
    hint: 'Give one signing certificate and its issuers alone.',
  },
  'certificate-not-rsa': {
    category: 'local',
    message: (d: { name: string; keyType: string }) =>
      `the certificate of ${d.name} has a key of type ${d.keyType}; the service signs with RSA (PKCS#1 v1.5) only`,
    hint: 'Give the RSA certificate whose number is in --code.',
  },
  'certificate-key-size': {
    category: 'local',
    message: (d: { name: string; bits: number; least: number; most: number }) =>
      `the certificate of ${d.name} has an RSA key of ${d.bits} bits; ${d.least} to ${d.most} are accepted`,
    hint: 'Code-signing keys have 2048 bits at least, newer ones 3072 or 4096: ask the certificate authority for a new certificate.',
  },
  'certificate-expired': {
    category: 'local',
    message: (d: { name: string; date: string }) => `the certificate of ${d.name} expired on ${d.date}`,
    hint: 'Give the renewed certificate, and the number the service knows it by.',
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
    hint: 'Give a code-signing certificate: verifiers reject signatures made with any other.',
  },
});
