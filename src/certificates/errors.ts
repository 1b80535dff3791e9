import { defineErrors, defineWarnings } from '../errors/define-errors.ts';

export const certificateErrors = defineErrors('local', {
  'certificate-file-too-large': {
    message: '{file} is {size} bytes long, but the limit for certificate files is {limit} bytes',
    hint: 'Use a file that contains only the signing certificate and its issuers.',
  },
  'certificate-file-unreadable': {
    message: '{file}: not a certificate file: {problem}',
    hint: 'Use a certificate file in PEM, DER, PKCS#7 (.p7b) or PKCS#12 (.pfx, .p12) format.',
  },
  'certificate-not-given': {
    category: 'usage',
    message: 'no signing certificate is configured',
    hint: 'Set the path of the certificate file with --certificate or CODESIGN_CERTIFICATE.',
  },
  'certificate-missing': {
    message: '{file}: contains no certificate',
    hint: 'Use the file from the certificate authority that contains the signing certificate and its issuers.',
  },
  'certificate-is-private-key': {
    message: '{file}: contains a private key, not a certificate',
    hint: 'Use only the certificate. The private key for signing stays in the HSM of the service. Never store a private key for signing on a build machine.',
  },
  'certificate-password-missing': {
    category: 'usage',
    message: '{file}: this PKCS#12 file needs a password, but no password is configured',
    hint: 'Set CODESIGN_CERTIFICATE_PASSWORD or CODESIGN_CERTIFICATE_PASSWORD_FILE, or convert the certificates to PEM without the private key.',
  },
  'certificate-password-wrong': {
    category: 'usage',
    message: '{file}: the password of this PKCS#12 file is wrong',
    hint: 'Check CODESIGN_CERTIFICATE_PASSWORD or CODESIGN_CERTIFICATE_PASSWORD_FILE.',
  },
  'certificate-encryption-unsupported': {
    message: '{file}: the encryption of this PKCS#12 file is not supported: {problem}',
    hint: 'Convert the certificates to PEM: openssl pkcs12 -in FILE -nokeys -out certificates.pem',
  },
  'certificate-bundle-too-large': {
    message: 'the files contain more than {limit} certificates, too many for one signing certificate and its issuers',
    hint: 'Use a file that contains only the signing certificate and its issuers.',
  },
  'certificate-leaf-ambiguous': {
    message: 'several certificates could be the signing certificate: {names}',
    hint: 'Use a file that contains only one signing certificate and its issuers.',
  },
  'certificate-not-rsa': {
    message:
      'the certificate of "{name}" has a key of type {keyType}, but the service signs only with RSA (PKCS#1 v1.5)',
    hint: 'Use the certificate that has the number in --code at the service; that certificate has an RSA key.',
  },
  'certificate-key-size': {
    message:
      'the certificate of "{name}" has an RSA key of {bits} bits; only keys of {least} to {most} bits are accepted',
    hint: 'Ask the certificate authority for a new certificate. Code-signing keys must have at least 2048 bits; new keys have 3072 or 4096 bits.',
  },
  'certificate-expired': {
    message: 'the certificate of "{name}" expired on {date}',
    hint: "Set --certificate to the renewed certificate, and --code to that certificate's number at the service.",
  },
  'certificate-not-yet-valid': {
    message: 'the certificate of "{name}" is not valid before {date}',
    hint: "Check this machine's clock, or wait until the certificate becomes valid.",
  },
  'certificate-not-for-code-signing': {
    message: 'the certificate of "{name}" is not for code signing: {problem}',
    hint: 'Use a code-signing certificate. Verifiers reject a signature made with a certificate for another purpose.',
  },
  'certificate-not-for-purpose': {
    message: 'the certificate of "{name}" is not for {purpose}: {problem}',
    hint: 'Use a certificate for {purpose}. Verifiers reject a signature made with a certificate for another purpose.',
  },
});

export const certificateWarnings = defineWarnings({
  'certificate-expires-soon': 'the certificate of "{name}" expires on {date}',
  'certificate-without-purpose':
    'the certificate of "{name}" has no extendedKeyUsage, but some verifiers require codeSigning there',
  'certificate-hardly-suitable': 'the certificate of "{name}" is not fully suitable for {use}: {oddity}',
  'issuer-expired': 'the certificate of the issuer "{name}" expired on {date}',
  'issuer-not-given':
    'the certificate of the issuer "{issuer}" is missing: verifiers that do not have it reject the signature',
  'chain-gap': 'the chain has a gap: the certificate of "{issuer}", which issued "{name}", is missing',
  'certificates-unused': 'certificates that are not part of the chain are ignored: {names}',
});
