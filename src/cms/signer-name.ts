/** Who signed, for people. */

import { readElement } from '../asn1/read.ts';
import { readCertificateFields } from '../certificates/certificate-fields.ts';
import { readName } from '../certificates/names.ts';
import type { SignerInfo } from './parse-signed-data.ts';

/** The signer's common name, or issuer and serial number without a certificate. Raw: may hold control characters. */
export function signerNameOf({ certificate, issuerAndSerial }: SignerInfo): string {
  if (certificate !== undefined) {
    const { commonName, text } = readName(readCertificateFields(certificate).subject);
    return commonName ?? text;
  }
  if (issuerAndSerial === undefined) return 'unknown';
  const serial = Buffer.from(readElement(issuerAndSerial.serialNumber, 'serial number').contents).toString('hex');
  return `${readName(issuerAndSerial.issuer).text}, serial number ${serial}`;
}
