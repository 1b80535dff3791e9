/** GeneralNames (RFC 5280, 4.2.1.6), as subjectAltName, name constraints and the addresses of CRLs hold them. */

import { type Element, parts } from '../asn1/read.ts';

/** Tags of GeneralName: IMPLICIT, but for the directoryName, which is a CHOICE and so EXPLICIT. */
export const GENERAL_NAME = {
  rfc822Name: 0x81,
  dNSName: 0x82,
  directoryName: 0xa4,
  uniformResourceIdentifier: 0x86,
  iPAddress: 0x87,
} as const;

/** The URIs among the parts of a GeneralNames, in order. */
export function addressesIn(generalNames: Element, what: string): string[] {
  return parts(generalNames, what).flatMap((name) =>
    name.tag === GENERAL_NAME.uniformResourceIdentifier ? [textOf(name)] : [],
  );
}

/** An IA5String; octets above 127 come out as Latin-1, which no comparison and no URL takes for something else. */
export function textOf({ contents }: Element): string {
  return Buffer.from(contents.buffer, contents.byteOffset, contents.byteLength).toString('latin1');
}
