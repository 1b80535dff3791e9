/** PEM (RFC 7468), and the certificates of a file in it. */

import type { InspectedCertificate } from '../../../verifying/inspect-certificates.ts';
import type { InspectedFile, InspectedSignature } from '../../../verifying/inspect-file.ts';
import { shown } from './shown.ts';

const LINE_LENGTH = 64;

export function pem(label: string, der: Uint8Array): string {
  const base64 = Buffer.from(der).toString('base64');
  const lines = base64.match(new RegExp(`.{1,${LINE_LENGTH}}`, 'g')) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}

/** All certificates of all signatures and timestamps, each once; before each two lines that say whose it is. */
export function certificatesPem({ signatures }: InspectedFile): string {
  const distinct = new Map(signatures.flatMap(certificatesOf).map((certificate) => [certificate.sha256, certificate]));
  return [...distinct.values()]
    .map(
      ({ subject, issuer, der }) =>
        `subject=${comment(subject)}\nissuer=${comment(issuer)}\n${pem('CERTIFICATE', der)}`,
    )
    .join('\n');
}

function certificatesOf({ certificates, timestamps, nested }: InspectedSignature): InspectedCertificate[] {
  return [
    ...certificates,
    ...timestamps.flatMap((timestamp) => timestamp.certificates),
    ...nested.flatMap(certificatesOf),
  ];
}

/** A name must not pass for a certificate: readers look for the dashes anywhere in a line. */
function comment(name: string): string {
  return shown(name).replaceAll('-----', '- - -');
}
