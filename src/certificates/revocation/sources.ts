/** Reads the addresses of CRLs and OCSP responders in certificates (RFC 5280, sections 4.2.1.13 and 4.2.2.1). */

import { AUTHORITY_INFORMATION, CRL_DISTRIBUTION_POINTS, OCSP } from '../../asn1/object-identifiers.ts';
import { type Element, fieldsOf, objectIdentifierOf, onlyPart, parts, readDer } from '../../asn1/read.ts';
import { encode, sequence } from '../../asn1/write.ts';
import { type CertificateFields, extensionOf } from '../certificate.ts';
import { GENERAL_NAME, readName, textOf } from '../names.ts';

export function ocspAddressesOf(certificate: CertificateFields): string[] {
  const what = 'authorityInfoAccess';
  const extension = extensionOf(certificate, AUTHORITY_INFORMATION, what);
  return (extension === undefined ? [] : parts(extension, what)).flatMap((description) => {
    const fields = fieldsOf(description, 0x30, what);
    const method = objectIdentifierOf(fields.next(0x06, 'method'), what);
    return method === OCSP ? addressesIn([fields.any('location')]) : [];
  });
}

export function crlAddressesOf(certificate: CertificateFields): string[] {
  const points = crlPointsOf(certificate) ?? [];
  return points.flatMap(({ addresses, isForSomeReasons }) => (isForSomeReasons ? [] : addresses));
}

/** Omits distribution points whose CRLs come from another issuer. */
export function crlPointsOf(certificate: CertificateFields) {
  const what = 'cRLDistributionPoints';
  const extension = extensionOf(certificate, CRL_DISTRIBUTION_POINTS, what);
  return (
    extension &&
    parts(extension, what).flatMap((point) => {
      const fields = fieldsOf(point, 0x30, what);
      const name = fields.optional(0xa0);
      const isForSomeReasons = fields.optional(0x81) !== undefined;
      const isOfOther = fields.optional(0xa2) !== undefined;
      if (isOfOther) return [];
      const choice = name && onlyPart(name, what);
      // A name relative to the issuer's name is not an address.
      const addresses = choice?.tag === 0xa0 ? addressesIn(parts(choice, what)) : [];
      const names = name === undefined ? [] : pointNames(name, certificate.issuer, what);
      return [{ names, addresses, isForSomeReasons }];
    })
  );
}

/** A distinguished name (`directoryName`) may be relative to `issuer`. */
export function pointNames(name: Element, issuer: Uint8Array, what: string): string[] {
  const choice = onlyPart(name, what);
  if (choice.tag === 0xa1) {
    const { contents } = readDer(issuer, what);
    return [readName(sequence(contents, encode(0x31, choice.contents))).key];
  }
  return parts(choice, what).flatMap((one) =>
    one.tag === GENERAL_NAME.directoryName ? [readName(one.contents).key] : addressesIn([one]),
  );
}

function addressesIn(names: readonly Element[]): string[] {
  return names.filter(({ tag }) => tag === GENERAL_NAME.uniformResourceIdentifier).map(textOf);
}
