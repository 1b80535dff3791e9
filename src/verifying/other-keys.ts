/** Authorities with several keys: a renewed key, a key for lists of revoked certificates. */

import { hasSigned, type ParsedCertificate } from '../certificates/parsed-certificate.ts';
import { WORK, type WorkBudget } from '../crypto/work-budget.ts';

/**
 * Certificates of the issuer's name with other keys (a renewed key, a key for lists) that one of the trusted authorities
 * from the issuer upwards has certified (RFC 5280, 6.3.3 (f)).
 */
export function otherKeysOf(
  issuer: ParsedCertificate,
  authorities: readonly ParsedCertificate[],
  pool: readonly ParsedCertificate[],
  budget: WorkBudget,
): readonly ParsedCertificate[] {
  const isOther = ({ subjectKey, fields }: ParsedCertificate): boolean =>
    subjectKey === issuer.subjectKey && Buffer.compare(fields.publicKeyInfo, issuer.fields.publicKeyInfo) !== 0;
  return [...authorities, ...pool]
    .filter(isOther)
    .filter((other) =>
      authorities.some(
        (authority) =>
          authority === other ||
          (authority.subjectKey === other.issuerKey &&
            budget.take(WORK.issuerSignature) &&
            hasSigned(authority, other)),
      ),
    );
}
