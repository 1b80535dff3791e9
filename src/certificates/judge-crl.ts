/** What a CRL says of a certificate, if it may say anything of it (RFC 5280, 6.3.3): issuer, signature, scope, freshness. */

import { CodesignError } from '../errors/codesign-error.ts';
import { allowsKeyUsage, basicConstraintsOf, KEY_USAGE_BITS } from './certificate-fields.ts';
import { type Crl, findInCrl } from './crl.ts';
import { type ParsedCertificate, publicKeyOf } from './parsed-certificate.ts';
import { crlAddressesOf } from './revocation-sources.ts';
import { ON_HOLD, type RevocationStatus, stalenessOf } from './revocation-status.ts';
import { isSignedBy } from './signature-algorithm.ts';

/** Whether the issuer's key really signed the CRL. It may be remembered: a large one takes a tenth of a second. */
export function crlIsSignedBy(crl: Crl, issuer: ParsedCertificate): boolean {
  const key = publicKeyOf(issuer);
  return key !== undefined && isSignedBy(key, crl.signatureAlgorithm, crl.signedBytes, crl.signature);
}

/**
 * The CRL must be of the certificate's own issuer. A certificate that it lists is revoked even where the CRL has expired
 * since: revocation is for good, but for a hold.
 */
export function judgeByCrl(
  crl: Crl,
  certificate: ParsedCertificate,
  issuer: ParsedCertificate,
  now: Date,
  isSigned: (crl: Crl, issuer: ParsedCertificate) => boolean = crlIsSignedBy,
): RevocationStatus {
  try {
    const problem = problemOf(crl, certificate, issuer, isSigned);
    if (problem !== undefined) return { kind: 'unknown', why: problem };
    const staleness = stalenessOf(crl.thisUpdate, crl.nextUpdate, now);
    const entry = findInCrl(crl, certificate.fields.serialNumber);
    if (entry !== undefined && (staleness === undefined || entry.reason !== ON_HOLD))
      return { kind: 'revoked', ...entry };
    return staleness === undefined ? { kind: 'good' } : { kind: 'unknown', why: staleness };
  } catch (thrown) {
    if (!(thrown instanceof CodesignError)) throw thrown;
    return { kind: 'unknown', why: thrown.message };
  }
}

function problemOf(
  crl: Crl,
  certificate: ParsedCertificate,
  issuer: ParsedCertificate,
  isSigned: (crl: Crl, issuer: ParsedCertificate) => boolean,
): string | undefined {
  if (crl.issuerKey !== certificate.issuerKey) return `it is of another issuer (${crl.issuerName})`;
  if (crl.scope.problem !== undefined) return crl.scope.problem;
  if (!covers(crl, certificate)) return 'it covers other certificates of the issuer';
  if (!allowsKeyUsage(issuer.fields, KEY_USAGE_BITS.cRLSign)) return 'the issuer may not sign CRLs (keyUsage)';
  return isSigned(crl, issuer) ? undefined : "its signature is not by the issuer's key";
}

function covers({ scope }: Crl, { fields }: ParsedCertificate): boolean {
  const isAuthority = basicConstraintsOf(fields)?.isAuthority ?? false;
  if (scope.covers === 'authorities' && !isAuthority) return false;
  if (scope.covers === 'end-entities' && isAuthority) return false;
  const { addresses } = scope;
  return addresses === undefined || crlAddressesOf(fields).some((address) => addresses.includes(address));
}
