/** What the server reads from certificates. */

import { X509Certificate } from 'node:crypto';
import { serverError } from '../errors.ts';
import type { DistinguishedName } from './x509.ts';

/** The subject, in the one shape that the server's own authorities have (organization and common name). */
export function nameOf(certificate: X509Certificate): DistinguishedName {
  const parts = new Map(
    certificate.subject.split('\n').map((line) => {
      const [type = '', ...value] = line.split('=');
      return [type, value.join('=')] as const;
    }),
  );
  const commonName = parts.get('CN');
  const organization = parts.get('O');
  if (commonName === undefined) {
    throw serverError('data-folder-incomplete', { path: certificate.subject, missing: 'a common name' });
  }
  return { commonName, ...(organization === undefined ? {} : { organization }) };
}

/** The certificates of a PEM file, in its order; what stands between them is ignored. @throws Error where one is damaged */
export function readCertificates(pem: string): readonly X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}
