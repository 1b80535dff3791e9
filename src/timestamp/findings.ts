/** What is found wrong with timestamps of either kind. */

import { type CertificateFields, readCertificateFields } from '../certificates/certificate-fields.ts';
import { purposeProblem, timeStampingOddity } from '../certificates/purpose.ts';
import type { Finding } from '../errors/finding.ts';

/** Speaks against the timestamp's integrity. */
export function broken(code: string, message: string): Finding {
  return { code, message, against: 'integrity' };
}

/** The examination of a signer (`examineSigner`), in the words of timestamps. */
export function asTimestampFinding({ code, message }: Finding): Finding {
  if (code === 'signer-certificate-missing') {
    return broken('timestamp-without-certificate', 'The timestamp does not carry the certificate of its signer.');
  }
  if (code === 'digest-algorithm-unknown') return broken('timestamp-algorithm-unknown', `Of the timestamp: ${message}`);
  return broken('timestamp-signature-wrong', `The timestamp's own signature is wrong: ${message}`);
}

/** Of the algorithms that a timestamp's imprint and signature are digested with. */
export function judgeDigests(algorithms: readonly (string | undefined)[]): readonly Finding[] {
  if (algorithms.includes('md5')) {
    const message = 'The timestamp is made with MD5, which can be forged.';
    return [broken('timestamp-algorithm-weak', message)];
  }
  if (!algorithms.includes('sha1')) return [];
  const message = 'The timestamp is made with SHA-1, which is no longer safe.';
  return [{ code: 'timestamp-algorithm-weak', message, against: 'nothing' }];
}

/** RFC 3161, 2.3: the purpose is timeStamping, alone and critical; the older kind of timestamp wants it named at least. */
export function judgePurpose(certificate: Uint8Array, kind: 'rfc3161' | 'authenticode'): readonly Finding[] {
  const problem = problemOf(readCertificateFields(certificate), kind);
  if (problem === undefined) return [];
  const message = `The timestamp's certificate is not one of a time stamp authority: ${problem}.`;
  return [{ code: 'timestamp-purpose', message, against: 'trust' }];
}

function problemOf(fields: CertificateFields, kind: 'rfc3161' | 'authenticode'): string | undefined {
  return purposeProblem(fields, 'time-stamping') ?? (kind === 'rfc3161' ? timeStampingOddity(fields) : undefined);
}
