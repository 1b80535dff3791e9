import { readCertificateFields } from '../certificates/certificate-fields.ts';
import { purposeProblem, timeStampingOddity } from '../certificates/purpose.ts';
import { BUDGET_SPENT } from '../crypto/work-budget.ts';
import { broken, type Finding, note, unsupported, untrusted, warning } from '../errors/finding.ts';

export interface Timestamp {
  /** `authenticode`: the older countersignature, PKCS#9 attribute 1.2.840.113549.1.9.6. */
  readonly kind: 'rfc3161' | 'authenticode';
  /** The token, a ContentInfo without what follows it, or the SignerInfo. */
  readonly bytes: Uint8Array;
  /** genTime or signingTime; undefined when it cannot be read. */
  readonly time: Date | undefined;
  /** Of the digest that binds it to the signature value, as node:crypto calls it; undefined when unknown to it. */
  readonly algorithm: string | undefined;
  /** Dotted; undefined for the older kind. */
  readonly policy: string | undefined;
  /** The token's own, in hexadecimal; undefined for the older kind. */
  readonly serialNumber: string | undefined;
  /** DER. */
  readonly signerCertificate: Uint8Array | undefined;
  /** For people. Raw: may hold control characters. */
  readonly signerName: string;
  /** All that it carries, DER; for the older kind those of the signature round it. */
  readonly certificates: readonly Uint8Array[];
  /** What is wrong with it apart from trust; none speaks against the integrity of a sound one. */
  readonly findings: readonly Finding[];
}

const WEAK = 'timestamp-algorithm-weak';

/** The examination of a signer (`examineSigner`), in the words of timestamps. */
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

/** Whether the imprint or the signature of a sound timestamp is by SHA-1. */
export function usesSha1({ findings }: Pick<Timestamp, 'findings'>): boolean {
  return findings.some(({ code, weight }) => code === WEAK && weight === 'warning');
}

/** Of the algorithms that a timestamp's imprint and signature are digested with. */
export function examineDigests(algorithms: readonly (string | undefined)[]): readonly Finding[] {
  if (algorithms.includes('md5')) return [broken(WEAK, 'The timestamp is made with MD5, which can be forged.')];
  if (!algorithms.includes('sha1')) return [];
  return [warning(WEAK, 'The timestamp is made with SHA-1, which is no longer safe.')];
}

/**
 * The purpose must be timeStamping. That it is critical and the only one, as RFC 3161, 2.3 wants it of tokens, many a
 * certificate lacks whose timestamps Windows takes, Microsoft's own of 2016 among them: a warning.
 */
export function examinePurpose(certificate: Uint8Array, kind: Timestamp['kind']): readonly Finding[] {
  const fields = readCertificateFields(certificate);
  const problem = purposeProblem(fields, 'time-stamping');
  const oddity = kind === 'rfc3161' ? timeStampingOddity(fields) : undefined;
  if (problem === undefined && oddity === undefined) return [];
  const message = `The timestamp's certificate is not as one of a timestamp authority should be: ${problem ?? oddity}.`;
  return [(problem === undefined ? note : untrusted)('timestamp-purpose', message)];
}
