/** Whether certificates were revoked: the seam that the judge of trust asks through. */

import type { ParsedCertificate } from '../certificates/parsed-certificate.ts';
import type { Finding } from '../errors/finding.ts';

export interface Revocation {
  /** What CRLs and OCSP say of a certificate that was used at a time; findings rather than throws. */
  judge(certificate: ParsedCertificate, issuer: ParsedCertificate, at: Date): Promise<readonly Finding[]>;
}
