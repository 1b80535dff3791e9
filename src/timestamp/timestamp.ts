import { readCertificateFields } from '../certificates/certificate.ts';
import { purposeProblem, timeStampingOddity } from '../certificates/purpose.ts';
import { BUDGET_SPENT } from '../crypto/work-budget.ts';
import { broken, type Finding, note, unsupported, untrusted, warning } from '../errors/finding.ts';

export interface Timestamp {
  /** `authenticode` is the older form, a countersignature (PKCS#9 attribute 1.2.840.113549.1.9.6). */
  readonly kind: 'rfc3161' | 'authenticode';
  /** The token (a ContentInfo, without any bytes that follow it) or the SignerInfo. */
  readonly bytes: Uint8Array;
  /** Value of genTime or signingTime. undefined if it is unreadable. */
  readonly time: Date | undefined;
  /** Name in node:crypto of the digest algorithm that binds the timestamp to the signature value. */
  readonly algorithm: string | undefined;
  readonly policy: string | undefined;
  readonly serialNumber: string | undefined;
  readonly signerCertificate: Uint8Array | undefined;
  /** Display name. This text is not escaped, so it may contain control characters. */
  readonly signerName: string;
  /**
   * All certificates that are included, in DER. A timestamp in the older form uses the certificates of the enclosing
   * signature.
   */
  readonly certificates: readonly Uint8Array[];
  /** Findings except trust. If the timestamp is intact, no finding is an objection to its integrity. */
  readonly findings: readonly Finding[];
}

const WEAK = 'timestamp-algorithm-weak';

export function asTimestampFinding(finding: Finding): Finding {
  const { code, message, weight } = finding;
  if (code === BUDGET_SPENT) return finding;
  if (code === 'signer-certificate-missing') {
    return unsupported('timestamp-without-certificate', 'The timestamp does not carry the certificate of its signer.');
  }
  if (weight === 'unsupported') {
    return unsupported('timestamp-algorithm-unknown', `The timestamp's signature cannot be checked: ${message}`);
  }
  return broken('timestamp-signature-wrong', `The timestamp's own signature is wrong: ${message}`);
}

export function usesSha1({ findings }: Pick<Timestamp, 'findings'>): boolean {
  return findings.some(({ code, weight }) => code === WEAK && weight === 'warning');
}

export function examineDigests(algorithms: readonly (string | undefined)[]): readonly Finding[] {
  if (algorithms.includes('md5')) return [broken(WEAK, 'The timestamp is made with MD5, which can be forged.')];
  if (!algorithms.includes('sha1')) return [];
  return [warning(WEAK, 'The timestamp is made with SHA-1, which is no longer safe.')];
}

/**
 * The extended key usage of the authority's certificate must be timeStamping. RFC 3161, 2.3 also requires that this
 * extension is critical and contains no other purpose. A violation of these rules causes only a warning, because
 * Windows accepts such timestamps, for example Microsoft's own from 2016.
 */
export function examinePurpose(certificate: Uint8Array, kind: Timestamp['kind']): readonly Finding[] {
  const fields = readCertificateFields(certificate);
  const problem = purposeProblem(fields, 'time-stamping');
  const oddity = kind === 'rfc3161' ? timeStampingOddity(fields) : undefined;
  if (problem === undefined && oddity === undefined) return [];
  const message = `The timestamp's certificate is not as one of a timestamp authority should be: ${problem ?? oddity}.`;
  return [(problem === undefined ? note : untrusted)('timestamp-purpose', message)];
}
