/** Formats a certificate's subject as Windows does (CertNameToStr, X.500 order reversed). */

import { readCertificateFields } from '../../certificates/certificate.ts';
import { type NameAttribute, readName } from '../../certificates/names.ts';

/**
 * Attribute names of ST_Publisher_2010_v2. Windows writes all other attributes as `OID.` followed by the object
 * identifier.
 */
const NAMES: Readonly<Record<string, string>> = {
  '2.5.4.3': 'CN',
  '2.5.4.4': 'SN',
  '2.5.4.5': 'SERIALNUMBER',
  '2.5.4.6': 'C',
  '2.5.4.7': 'L',
  '2.5.4.8': 'S',
  '2.5.4.9': 'STREET',
  '2.5.4.10': 'O',
  '2.5.4.11': 'OU',
  '2.5.4.12': 'T',
  '2.5.4.13': 'Description',
  '2.5.4.17': 'PostalCode',
  '2.5.4.18': 'POBox',
  '2.5.4.20': 'Phone',
  '2.5.4.24': 'X21Address',
  '2.5.4.42': 'G',
  '2.5.4.43': 'I',
  '2.5.4.46': 'dnQualifier',
  '0.9.2342.19200300.100.1.25': 'DC',
  '1.2.840.113549.1.9.1': 'E',
};

export function subjectText(certificate: Uint8Array): string {
  return nameText(readCertificateFields(certificate).subject);
}

export function nameText(name: Uint8Array): string {
  return readName(name)
    .relativeNames.toReversed()
    .map((attributes) => attributes.map(attributeText).join(' + '))
    .join(', ');
}

function attributeText({ type, value }: NameAttribute): string {
  const needsQuotes = value === '' || /[,+="\n<>#;]|^\s|\s$/.test(value);
  return `${NAMES[type] ?? `OID.${type}`}=${needsQuotes ? `"${value.replaceAll('"', '""')}"` : value}`;
}

export function isOtherSpelling(publisher: string, subject: string): boolean {
  const [one, other] = [publisher, subject].map((text) => text.toLowerCase().replace(/["\s]/g, ''));
  return one === other;
}
