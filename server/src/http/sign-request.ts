import * as v from 'valibot';
import { DIGEST_LENGTH, type DigestAlgorithm } from '../../../src/crypto/algorithms.ts';
import { algorithmSchema, type Extra, PADDING, signRequestSchema } from '../../../src/service/messages.ts';
import { type Client, EXTRA_LIMIT, isDisabled, type StoredCertificate, sizeOfExtra } from '../records/rows.ts';
import { decodeBase64 } from './auth.ts';

/** Messages for failed checks, by the name of the check in the log. */
export const REFUSALS = {
  body: 'invalid request: the body is not a JSON object',
  code: 'invalid request: the field "code" does not identify a valid certificate',
  disabled: 'invalid request: the certificate is disabled',
  digest: 'invalid request: the field "digest" is not Base64',
  algorithm: 'invalid request: the field "algorithm" is unknown or does not match the digest',
  padding: `invalid request: padding is not ${PADDING}`,
  extra: `invalid request: the field "extra" is malformed or longer than ${EXTRA_LIMIT} bytes`,
  'not-allowed': 'this client may not sign with this algorithm',
} as const;
type Refusal = keyof typeof REFUSALS;

export interface CheckedSignRequest {
  readonly certificate: StoredCertificate;
  readonly digest: Uint8Array;
  readonly algorithm: DigestAlgorithm;
  readonly extra: Extra | undefined;
}

export interface RefusedSignRequest {
  readonly refusal: Refusal;
  readonly certificate: string | undefined;
}

export function isUsable(certificate: StoredCertificate, now: Date): boolean {
  return !isDisabled(certificate, now) && now >= certificate.notBefore && now <= certificate.notAfter;
}

/**
 * Checks a request body in the order of the API document (API 7).
 * @param client gets the same response for a certificate that it may not use as for an unknown certificate
 */
export async function checkSignRequest(
  body: unknown,
  client: Pick<Client, 'certificates' | 'algorithms'>,
  findCertificate: (number: string) => Promise<StoredCertificate | undefined>,
  now: Date,
): Promise<CheckedSignRequest | RefusedSignRequest> {
  const refuse = (refusal: Refusal, certificate?: string): RefusedSignRequest => ({ refusal, certificate });
  const { entries } = signRequestSchema;
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return refuse('body');
  const fields: Readonly<Record<string, unknown>> = { ...body };

  // 1. The `code` field must identify a valid certificate.
  const code = v.safeParse(entries.code, fields.code);
  const certificate = code.success ? await findCertificate(code.output) : undefined;
  if (certificate === undefined) return refuse('code');
  if (client.certificates?.includes(certificate.number) === false) return refuse('code', certificate.number);
  if (isDisabled(certificate, now)) return refuse('disabled', certificate.number);
  if (!isUsable(certificate, now)) return refuse('code', certificate.number);

  // 2. `digest` is valid Base64.
  const text = v.safeParse(entries.digest, fields.digest);
  const digest = text.success ? decodeBase64(text.output) : undefined;
  if (digest === undefined) return refuse('digest', certificate.number);

  // 3. `algorithm` matches the digest.
  const algorithm = v.safeParse(algorithmSchema, fields.algorithm);
  if (!algorithm.success || digest.length !== DIGEST_LENGTH[algorithm.output]) {
    return refuse('algorithm', certificate.number);
  }

  // 4. `padding` is PKCS1.
  if (fields.padding !== PADDING) return refuse('padding', certificate.number);

  // The API document does not say when `extra` (2.3) is checked. valibot accepts an array as an object.
  const extra = v.safeParse(entries.extra, fields.extra);
  if (!extra.success || Array.isArray(fields.extra)) return refuse('extra', certificate.number);
  if (extra.output && sizeOfExtra(extra.output) > EXTRA_LIMIT) return refuse('extra', certificate.number);

  if (client.algorithms?.includes(algorithm.output) === false) return refuse('not-allowed', certificate.number);
  return { certificate, digest, algorithm: algorithm.output, extra: extra.output };
}
