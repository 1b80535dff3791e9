/** Where a certificate says that its revocation can be asked about (RFC 5280, 4.2.1.13 and 4.2.2.1). */

import { AUTHORITY_INFORMATION, CRL_DISTRIBUTION_POINTS, OCSP } from '../../asn1/object-identifiers.ts';
import { type Element, fieldsOf, objectIdentifierOf, onlyPart, parts, readDer } from '../../asn1/read.ts';
import { encode, sequence } from '../../asn1/write.ts';
import type { CertificateFields } from '../certificate-fields.ts';
import { addressesIn, GENERAL_NAME, readName, textOf } from '../names.ts';

/** Addresses of OCSP responders, as the certificate has them. Throws `asn1-malformed`. */
export function ocspAddressesOf({ extensions }: CertificateFields): string[] {
  const extension = extensions.get(AUTHORITY_INFORMATION);
  if (extension === undefined) return [];
  const what = 'authorityInfoAccess';
  return parts(readDer(extension, what), what).flatMap((description) => {
    const fields = fieldsOf(description, 0x30, what);
    const method = objectIdentifierOf(fields.next(0x06, 'method'), what);
    const location = fields.any('location');
    return method === OCSP && location.tag === GENERAL_NAME.uniformResourceIdentifier ? [textOf(location)] : [];
  });
}

/**
 * Addresses of CRLs, as the certificate has them. Points whose CRL has another issuer, or lacks some reasons, are left
 * out. Throws `asn1-malformed`.
 */
export function crlAddressesOf({ extensions }: CertificateFields): string[] {
  const extension = extensions.get(CRL_DISTRIBUTION_POINTS);
  if (extension === undefined) return [];
  const what = 'cRLDistributionPoints';
  return parts(readDer(extension, what), what).flatMap((point) => {
    const fields = fieldsOf(point, 0x30, what);
    const name = fields.optional(0xa0);
    const isPartial = fields.optional(0x81) !== undefined || fields.optional(0xa2) !== undefined;
    return name === undefined || isPartial ? [] : addressesOfPoint(name, what);
  });
}

/** The URIs of a DistributionPointName: fullName; a name relative to the issuer's is no address. */
function addressesOfPoint(name: Element, what: string): string[] {
  const choice = onlyPart(name, what);
  return choice.tag === 0xa0 ? addressesIn(choice, what) : [];
}

export interface CrlPoint {
  /** Comparable with those of `pointNames`. */
  readonly names: readonly string[];
  /** Whether its lists leave out revocations for other reasons. */
  readonly isForSomeReasons: boolean;
}

/**
 * The distribution points where the certificate's own issuer lists it; undefined without the extension. Throws
 * `asn1-malformed`.
 */
export function crlPointsOf({ extensions, issuer }: CertificateFields): CrlPoint[] | undefined {
  const extension = extensions.get(CRL_DISTRIBUTION_POINTS);
  if (extension === undefined) return undefined;
  const what = 'cRLDistributionPoints';
  return parts(readDer(extension, what), what).flatMap((point) => {
    const fields = fieldsOf(point, 0x30, what);
    const name = fields.optional(0xa0);
    const isForSomeReasons = fields.optional(0x81) !== undefined;
    const isOfOther = fields.optional(0xa2) !== undefined;
    if (isOfOther) return [];
    return [{ names: name === undefined ? [] : pointNames(name, issuer, what), isForSomeReasons }];
  });
}

/** The names of a DistributionPointName: URIs, and names in the directory, whole or relative to `issuer` (a whole Name). */
export function pointNames(name: Element, issuer: Uint8Array, what: string): string[] {
  const choice = onlyPart(name, what);
  if (choice.tag === 0xa1) {
    const { contents } = readDer(issuer, what);
    return [readName(sequence(contents, encode(0x31, choice.contents))).key];
  }
  return parts(choice, what).flatMap((one) => {
    if (one.tag === GENERAL_NAME.directoryName) return [readName(one.contents).key];
    return one.tag === GENERAL_NAME.uniformResourceIdentifier ? [textOf(one)] : [];
  });
}
