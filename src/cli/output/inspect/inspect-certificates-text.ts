/** Certificates for people: each with what it says, its issuer below it and further in, as far as they are there. */

import type { InspectedCertificate } from '../../../verifying/inspect-certificates.ts';
import type { NamedObject } from '../../../verifying/object-names.ts';
import { dateTime, named, shown } from './shown.ts';
import { field, hang } from './wrap.ts';

const STEP = 2;
/** A chain made to exhaust would leave no room to write in. */
const DEEPEST = 6;
const NAME_COLUMNS = 15;

export function certificateLines(certificates: readonly InspectedCertificate[], indent: number): string[] {
  let level = 0;
  return certificates.flatMap((certificate, index) => {
    const isIssuer = index > 0 && certificates[index - 1]?.issuerIndex === index;
    level = isIssuer ? Math.min(level + 1, DEEPEST) : 0;
    return linesOf(certificate, indent + level * STEP);
  });
}

function linesOf(certificate: InspectedCertificate, indent: number): string[] {
  const { name, notBefore, notAfter, signatureAlgorithm, keyUsage, extendedKeyUsage, policies } = certificate;
  const line = (label: string, value: string) => field(label, value, indent + STEP, NAME_COLUMNS);
  const valid =
    notBefore === undefined || notAfter === undefined
      ? 'not readable'
      : `${dateTime(notBefore)} to ${dateTime(notAfter)}`;
  return [
    ...hang(`${' '.repeat(indent)}- `, shown(name), indent + STEP),
    ...line('subject', shown(certificate.subject)),
    ...line('issuer', certificate.isSelfSigned ? 'itself' : shown(certificate.issuer)),
    ...line('serial number', certificate.serialNumber),
    ...line('valid', valid),
    ...line('key', keyText(certificate)),
    ...(signatureAlgorithm === undefined ? [] : line('signed with', named(signatureAlgorithm))),
    ...(certificate.isAuthority ? line('authority', 'yes') : []),
    ...(keyUsage === undefined ? [] : line('key usage', keyUsage.join(', '))),
    ...(extendedKeyUsage === undefined ? [] : line('purposes', list(extendedKeyUsage))),
    ...(policies.length === 0 ? [] : line('policies', list(policies))),
    ...line('SHA-256', certificate.sha256),
    ...line('SHA-1', certificate.sha1),
  ];
}

const KEY_TYPES: Readonly<Record<string, string>> = { rsa: 'RSA', 'rsa-pss': 'RSA-PSS', ec: 'EC', dsa: 'DSA' };

function keyText({ publicKey }: InspectedCertificate): string {
  if (publicKey === undefined) return 'of a kind that cannot be read';
  const { type, bits, curve } = publicKey;
  return [KEY_TYPES[type] ?? type, ...(bits === undefined ? [] : [`${bits} bits`]), ...(curve ? [curve] : [])].join(
    ', ',
  );
}

function list(objects: readonly NamedObject[]): string {
  return objects.map(named).join(', ');
}
