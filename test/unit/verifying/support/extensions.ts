/** Names, and extensions of certificates and CRLs, as OpenSSL encodes them. */

import { memoize } from '../../../../src/bytes/reuse.ts';
import { readCertificateFields } from '../../../../src/certificates/certificate.ts';
import { openssl } from '../../../support/programs/openssl.ts';
import { extension, name } from '../../../support/signed-files/hostile-certificates.ts';
import { testKey } from '../../../support/signed-files/pki.ts';

const KEY = testKey('ec').privateKey.export({ type: 'pkcs8', format: 'pem' });
/** Newer versions of OpenSSL add them without being asked. */
const KEY_IDENTIFIERS = ['2.5.29.14', '2.5.29.35'];

/** The fields of a certificate that OpenSSL makes; a directory name in the lines is that of the section `acme`. */
const made = memoize(
  1000,
  (asked: { readonly subject: string; readonly lines: readonly string[] }) => JSON.stringify(asked),
  ({ subject, lines }) => {
    const sections = ['[req]', 'distinguished_name=acme', 'x509_extensions=made', '[acme]', 'C=DE', 'O=Acme', '[made]'];
    const files = { 'key.pem': KEY, 'made.cnf': `${[...sections, ...lines].join('\n')}\n` };
    const command = 'req -x509 -key key.pem -config made.cnf -outform DER -subj'.split(' ');
    return readCertificateFields(openssl([...command, subject], files));
  },
);

/** Each from a line such as `keyUsage=critical,digitalSignature` or `1.2.3=DER:0500`. */
export function extensionsFrom(lines: readonly string[]): readonly Uint8Array[] {
  if (lines.length === 0) return [];
  const { extensions, criticalExtensions } = made({ subject: '/CN=any', lines });
  const own = [...extensions].filter(([type]) => !KEY_IDENTIFIERS.includes(type));
  return own.map(([type, value]) => extension(type, value, criticalExtensions.includes(type)));
}

/** From a common name, or several attributes such as "/C=DE/CN=Name". */
export function nameFrom(text: string): Uint8Array {
  return text.startsWith('/') ? made({ subject: text, lines: [] }).subject : name(text);
}
