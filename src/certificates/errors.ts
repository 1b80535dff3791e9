/** Errors in the certificates for signing. */

import { defineErrors, defineWarnings } from '../errors/define-errors.ts';

export const certificateErrors = defineErrors('local', {
  'certificate-file-too-large': {
    message: '{file}: {size} bytes, too large for a certificate file (at most {limit})',
    hint: 'Use a file with the signing certificate and its issuers only.',
  },
  'certificate-file-unreadable': {
    message: '{file}: not a certificate file: {problem}',
    hint: 'Use a certificate file in PEM, DER, PKCS#7 (.p7b) or PKCS#12 (.pfx, .p12) form.',
  },
  'certificate-not-given': {
    category: 'usage',
    message: 'no signing certificate is configured',
    hint: 'Set its file with --certificate or CODESIGN_CERTIFICATE.',
  },
  'certificate-missing': {
    message: '{file}: contains no certificate',
    hint: 'Use the signing certificate and its issuers, as the certificate authority delivered them.',
  },
  'certificate-is-private-key': {
    message: '{file}: contains a private key, not a certificate',
    hint: 'Use the certificate only: the key stays in the HSM of the service. If this key is in use, keep it away from build machines.',
  },
  'certificate-password-missing': {
    category: 'usage',
    message: '{file}: this PKCS#12 file needs a password, and none is configured',
    hint: 'Set CODESIGN_CERTIFICATE_PASSWORD or CODESIGN_CERTIFICATE_PASSWORD_FILE, or convert the certificates to PEM: the private key is not needed.',
  },
  'certificate-password-wrong': {
    category: 'usage',
    message: '{file}: the password does not open this PKCS#12 file',
    hint: 'Check CODESIGN_CERTIFICATE_PASSWORD or CODESIGN_CERTIFICATE_PASSWORD_FILE.',
  },
  'certificate-encryption-unsupported': {
    message: '{file}: the encryption of this PKCS#12 file is not supported: {problem}',
    hint: 'Convert the certificates to PEM: openssl pkcs12 -in FILE -nokeys -out certificates.pem',
  },
  'certificate-bundle-too-large': {
    message: 'more than {limit} certificates: too many for one signing certificate with its issuers',
    hint: 'Use a file with the signing certificate and its issuers only.',
  },
  'certificate-leaf-ambiguous': {
    message: 'several certificates could be the signing certificate: {names}',
    hint: 'Use a file with one signing certificate and its issuers only.',
  },
  'certificate-not-rsa': {
    message: 'the certificate of "{name}" has a key of type {keyType}; the service signs with RSA (PKCS#1 v1.5) only',
    hint: 'Use the certificate that --code selects at the service: it has an RSA key.',
  },
  'certificate-key-size': {
    message: 'the certificate of "{name}" has an RSA key of {bits} bits; {least} to {most} are accepted',
    hint: 'Ask the certificate authority for a new certificate: code-signing keys have at least 2048 bits, newer ones 3072 or 4096.',
  },
  'certificate-expired': {
    message: 'the certificate of "{name}" expired on {date}',
    hint: 'Use the renewed certificate, and the number that the service has for it.',
  },
  'certificate-not-yet-valid': {
    message: 'the certificate of "{name}" is not valid before {date}',
    hint: "Check this machine's clock, or wait.",
  },
  'certificate-not-for-code-signing': {
    message: 'the certificate of "{name}" is not for code signing: {problem}',
    hint: 'Use a code-signing certificate: verifiers reject signatures by other certificates.',
  },
  'certificate-not-for-purpose': {
    message: 'the certificate of "{name}" is not for {purpose}: {problem}',
    hint: 'Use a certificate for this purpose: verifiers of this format reject signatures by other certificates.',
  },
});

export const certificateWarnings = defineWarnings({
  'certificate-expires-soon': 'the certificate of "{name}" expires on {date}',
  'certificate-without-purpose':
    'the certificate of "{name}" names no purpose (extendedKeyUsage), and some verifiers require codeSigning there',
  'certificate-hardly-suitable': 'the certificate of "{name}" is not fully suitable for {use}: {oddity}',
  'issuer-expired': 'the certificate of the issuer "{name}" expired on {date}',
  'issuer-not-given':
    'the issuer of the signing certificate, "{issuer}", is not given: verifiers that do not know it reject the signature',
  'chain-gap': 'the chain has a gap: "{issuer}", which issued "{name}", is not given',
  'certificates-unused': 'certificates that are not part of the chain are left out: {names}',
});
