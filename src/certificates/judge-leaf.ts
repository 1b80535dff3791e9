/** Whether a certificate can be the signing certificate: its key, its purpose, its time. */

import type { KeyObject } from 'node:crypto';
import { extendedKeyUsageOf } from './certificate-fields.ts';
import { certificateErrors } from './errors.ts';
import { type ParsedCertificate, publicKeyOf } from './parsed-certificate.ts';
import { purposeProblem } from './purpose.ts';

export interface JudgedLeaf {
  readonly publicKey: KeyObject;
  /** Of the modulus, in bytes. */
  readonly signatureLength: number;
  readonly warnings: readonly string[];
}

/** Shorter keys are refused by every verifier of today, longer ones by OpenSSL. */
const LEAST_BITS = 2048;
const MOST_BITS = 16_384;
const NEARLY_EXPIRED_DAYS = 30;
const DAY = 24 * 60 * 60 * 1000;

/** Throws `certificate-not-rsa`, `-key-size`, `-not-for-code-signing`, `-not-yet-valid`, `-expired`. */
export function judgeLeaf(leaf: ParsedCertificate, now: Date): JudgedLeaf {
  const { name, fields, notBefore, notAfter } = leaf;
  const publicKey = publicKeyOf(leaf);
  const keyType = publicKey?.asymmetricKeyType ?? 'unknown';
  if (publicKey === undefined || keyType !== 'rsa') throw certificateErrors('certificate-not-rsa', { name, keyType });
  const bits = publicKey.asymmetricKeyDetails?.modulusLength ?? 0;
  if (bits < LEAST_BITS || bits > MOST_BITS) {
    throw certificateErrors('certificate-key-size', { name, bits, least: LEAST_BITS, most: MOST_BITS });
  }
  const problem = purposeProblem(fields);
  if (problem !== undefined) throw certificateErrors('certificate-not-for-code-signing', { name, problem });
  if (now < notBefore) throw certificateErrors('certificate-not-yet-valid', { name, date: dateOf(notBefore) });
  if (now > notAfter) throw certificateErrors('certificate-expired', { name, date: dateOf(notAfter) });

  const warnings: string[] = [];
  if (notAfter.getTime() - now.getTime() < NEARLY_EXPIRED_DAYS * DAY) {
    warnings.push(`The certificate of ${name} expires on ${dateOf(notAfter)}.`);
  }
  if (extendedKeyUsageOf(fields) === undefined) {
    warnings.push(
      `The certificate of ${name} names no purpose (extendedKeyUsage); some verifiers want codeSigning there.`,
    );
  }
  return { publicKey, signatureLength: Math.ceil(bits / 8), warnings };
}

/** The day, as ISO 8601 has it, in UTC. */
export function dateOf(time: Date): string {
  return time.toISOString().slice(0, 10);
}
