/** What `inspect` and `extract` write for programs: the JSON document of a file, and PEM (RFC 7468). */

import type { InspectedCertificate } from '../../../verifying/inspect-certificates.ts';
import type { InspectedFile, InspectedSignature } from '../../../verifying/inspect-file.ts';
import { shown } from '../lines.ts';

/** Encoded certificates: `--certificates` prints them. */
const LEFT_OUT = 'der';
const PEM_LINE_LENGTH = 64;

/** The members of the library's type: bytes in hexadecimal, null for undefined. */
export function inspectJson(file: InspectedFile): object {
  return Object.fromEntries(membersOf(file));
}

function membersOf(value: object): [string, unknown][] {
  return Object.entries(value).flatMap(([name, member]) => (name === LEFT_OUT ? [] : [[name, plain(member)]]));
}

function plain(value: unknown): unknown {
  if (value === undefined) return null;
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (Array.isArray(value)) return value.map(plain);
  return typeof value === 'object' && value !== null ? Object.fromEntries(membersOf(value)) : value;
}

export function pem(label: string, der: Uint8Array): string {
  const base64 = Buffer.from(der).toString('base64');
  const lines = base64.match(new RegExp(`.{1,${PEM_LINE_LENGTH}}`, 'g')) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}

/** Each certificate of all signatures and timestamps once, after two lines with its subject and issuer. */
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

/** Readers of PEM look for dashes anywhere in a line, so a name must not hold them. */
function comment(name: string): string {
  return shown(name).replaceAll('-----', '- - -');
}
