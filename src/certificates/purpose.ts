/** Whether a certificate may sign code, by its keyUsage and extendedKeyUsage (RFC 5280, 4.2.1.3 and 4.2.1.12). */

import { allowsDigitalSignature, type CertificateFields, extendedKeyUsageOf } from './certificate-fields.ts';

const CODE_SIGNING = '1.3.6.1.5.5.7.3.3';
const ANY_PURPOSE = '2.5.29.37.0';

/** Without extendedKeyUsage any purpose is allowed, as Windows, signtool and osslsigncode take it. */
export function allowsCodeSigning(fields: CertificateFields): boolean {
  return purposeProblem(fields) === undefined;
}

/** What keeps the certificate from signing code, for people; undefined when nothing does. */
export function purposeProblem(fields: CertificateFields): string | undefined {
  if (!allowsDigitalSignature(fields)) return 'its keyUsage lacks digitalSignature';
  const purposes = extendedKeyUsageOf(fields);
  if (purposes === undefined || purposes.includes(CODE_SIGNING) || purposes.includes(ANY_PURPOSE)) return undefined;
  return 'its extendedKeyUsage lacks codeSigning';
}
