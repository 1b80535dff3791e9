/** What it means for a signature that its signer, or an authority above it, was revoked before or after. */

import { extendedKeyUsageOf } from '../certificates/certificate-fields.ts';
import type { ParsedCertificate } from '../certificates/parsed-certificate.ts';
import { type CombinedStatus, isCompromise, nameOfReason, type Revoked } from '../certificates/revocation-status.ts';
import { secondOf } from '../certificates/times.ts';
import { CodesignError } from '../errors/codesign-error.ts';
import type { Finding } from '../errors/finding.ts';

const TIME_STAMPING = '1.3.6.1.5.5.7.3.8';
/** unspecified, affiliationChanged, superseded, cessationOfOperation. */
const HARMLESS_TO_TIMESTAMPS: ReadonlySet<number> = new Set([0, 3, 4, 5]);

/**
 * Windows and jarsigner compare the date of the revocation with the time of the signature, whatever the reason: authorities
 * are to date it back to when the key was lost. So does this, but for two cases. A CRL may tell of a lost key by an
 * invalidityDate before the revocation: then that counts (RFC 5280, 5.3.2). And who has the key of a timestamp authority
 * can make any time, so that its tokens end with it altogether, unless the reason says that the key is safe (RFC 3161, 4).
 */
export function revocationFindings(status: CombinedStatus, certificate: ParsedCertificate, at: Date): Finding[] {
  const { name } = certificate;
  switch (status.kind) {
    case 'good':
      return [];
    case 'unknown': {
      const message = `Whether the certificate of "${name}" was revoked could not be found out: ${status.why}.`;
      return [{ code: 'revocation-unknown', message, against: 'trust' }];
    }
    case 'revoked': {
      const findings = status.revoked.map((one) => findingOf(one, certificate, at));
      // One finding is enough: the first statement that ends trust, otherwise the first.
      return [...findings.filter(({ against }) => against === 'trust'), ...findings].slice(0, 1);
    }
  }
}

function findingOf(revoked: Revoked, certificate: ParsedCertificate, at: Date): Finding {
  const reason = nameOfReason(revoked.reason);
  const because = reason === undefined ? '' : ` (${reason})`;
  const { code, isAgainst, words } = consequence(revoked, certificate, at);
  const message = `The certificate of "${certificate.name}" was revoked on ${secondOf(revoked.revokedAt)}${because}${words}.`;
  return { code, message, against: isAgainst ? 'trust' : 'nothing' };
}

function consequence(revoked: Revoked, certificate: ParsedCertificate, at: Date) {
  const code = 'certificate-revoked';
  const { revokedAt, reason, invalidSince } = revoked;
  if (revokedAt <= at) return { code, isAgainst: true, words: '' };
  if (isCompromise(reason) && invalidSince !== undefined && invalidSince <= at) {
    return { code, isAgainst: true, words: `, and its key is not to be relied on since ${secondOf(invalidSince)}` };
  }
  if (isTimeStamper(certificate) && !(reason !== undefined && HARMLESS_TO_TIMESTAMPS.has(reason))) {
    return { code, isAgainst: true, words: ', and no timestamp of it counts any more' };
  }
  return { code, isAgainst: false, words: `, after it was used (${secondOf(at)})` };
}

function isTimeStamper({ fields }: ParsedCertificate): boolean {
  try {
    return extendedKeyUsageOf(fields)?.includes(TIME_STAMPING) ?? false;
  } catch (thrown) {
    if (!(thrown instanceof CodesignError)) throw thrown;
    return false; // a damaged extension is among the path's findings
  }
}
