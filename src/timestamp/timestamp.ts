import { readCertificateFields } from '../certificates/certificate.ts';
import { purposeProblem, timeStampingOddity } from '../certificates/purpose.ts';
import { BUDGET_SPENT } from '../crypto/work-budget.ts';
import { broken, type Finding, note, unsupported, untrusted, warning } from '../errors/finding.ts';

export interface Timestamp {
  /** `authenticode` stands for a countersignature (PKCS#9), the older form. */
  readonly kind: 'rfc3161' | 'authenticode';
  /** The token, without bytes that follow it, or the SignerInfo. */
  readonly bytes: Uint8Array;
  /** The genTime or signingTime; undefined if it cannot be read. */
  readonly time: Date | undefined;
  /** Digest algorithm for the signature value, as node:crypto names it. */
  readonly algorithm: string | undefined;
  readonly policy: string | undefined;
  readonly serialNumber: string | undefined;
  readonly signerCertificate: Uint8Array | undefined;
  /** The name may contain control characters. */
  readonly signerName: string;
  /** A countersignature uses the certificates of the enclosing signature. */
  readonly certificates: readonly Uint8Array[];
  /** All findings except those about trust. */
  readonly findings: readonly Finding[];
}

const WEAK = 'timestamp-algorithm-weak';

export function asTimestampFinding(finding: Finding): Finding {
  const { code, message, weight } = finding;
  if (code === BUDGET_SPENT) return finding;
  if (code === 'signer-certificate-missing') {
    return unsupported(
      'timestamp-without-certificate',
      'The timestamp does not contain the certificate of its signer.',
    );
  }
  if (weight === 'unsupported') {
    return unsupported('timestamp-algorithm-unknown', `The signature of the timestamp cannot be checked: ${message}`);
  }
  return broken('timestamp-signature-wrong', `The signature of the timestamp is not valid: ${message}`);
}

export function usesSha1({ findings }: Pick<Timestamp, 'findings'>): boolean {
  return findings.some(({ code, weight }) => code === WEAK && weight === 'warning');
}

export function examineDigests(algorithms: readonly (string | undefined)[]): readonly Finding[] {
  if (algorithms.includes('md5')) return [broken(WEAK, 'The timestamp uses MD5, so it could be forged.')];
  if (!algorithms.includes('sha1')) return [];
  return [warning(WEAK, 'The timestamp uses SHA-1, which is no longer secure.')];
}

/**
 * RFC 3161, section 2.3, requires timeStamping alone, in a critical extension. Windows accepts other certificates, for
 * example Microsoft's own from 2016, so another purpose is only a note.
 */
export function examinePurpose(certificate: Uint8Array, kind: Timestamp['kind']): readonly Finding[] {
  const fields = readCertificateFields(certificate);
  const problem = purposeProblem(fields, 'time-stamping');
  const oddity = kind === 'rfc3161' ? timeStampingOddity(fields) : undefined;
  if (problem === undefined && oddity === undefined) return [];
  const message = `The certificate of the timestamp is not suitable for a timestamp authority: ${problem ?? oddity}.`;
  return [(problem === undefined ? note : untrusted)('timestamp-purpose', message)];
}
