import { type Element, fieldsOf, octetsOf, parts, readElement } from '../asn1/read.ts';
import { encode, objectIdentifier, octetString, sequence, smallInteger } from '../asn1/write.ts';
import { digestAlgorithm } from '../cms/build-signed-data.ts';
import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import { withoutDenseRuns } from '../secrets/foreign-text.ts';

export interface TimestampRequest {
  readonly algorithm: DigestAlgorithm;
  readonly digest: Uint8Array;
  /** undefined stands for the authority's default policy. */
  readonly policy?: string | undefined;
  readonly nonce: Uint8Array;
}

export const NONCE_LENGTH = 8;
const INTEGER_TAG = 0x02;
const VERSION = 1;
/** certReq: TRUE. Verifiers need the certificate in the token. */
const WITH_CERTIFICATE = Uint8Array.of(0x01, 0x01, 0xff);

export function buildTimestampRequest({ algorithm, digest, policy, nonce }: TimestampRequest): Uint8Array {
  return sequence(
    smallInteger(VERSION),
    sequence(digestAlgorithm(algorithm), octetString(digest)),
    ...(policy === undefined ? [] : [objectIdentifier(policy)]),
    encode(INTEGER_TAG, nonce),
    WITH_CERTIFICATE,
  );
}

/** Encodes a non-negative INTEGER in DER. Clears the top bit, because some authorities support only 64 bits. */
export function nonceOf(random: Uint8Array): Uint8Array {
  const octets = Uint8Array.from(random);
  octets[0] = (octets[0] ?? 0) & 0x7f;
  return withoutLeadingZeros(octets);
}

/** Other programs may write leading zeros. */
export function isSameInteger(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(withoutLeadingZeros(a), withoutLeadingZeros(b)) === 0;
}

function withoutLeadingZeros(octets: Uint8Array): Uint8Array {
  let start = 0;
  while (start < octets.length - 1 && octets[start] === 0 && (octets[start + 1] ?? 0) < 0x80) start += 1;
  return octets.subarray(start);
}

/** The refusal may contain control characters. */
type TimestampResponse = { readonly token: Uint8Array } | { readonly refusal: string };

/** PKIStatus. An authority returns a token only with the first two values. */
const STATUSES = [
  'granted',
  'granted with modifications',
  'rejection',
  'waiting',
  'revocation warning',
  'revocation notification',
] as const;
const LAST_GRANTING_STATUS = 1;
const UNKNOWN_STATUS = 127;

const FAILURES: Readonly<Record<number, string>> = {
  0: 'unknown or unsupported algorithm',
  2: 'transaction not permitted or supported',
  5: 'wrong data format',
  14: 'no time source available',
  15: 'policy not supported',
  16: 'extension not supported',
  17: 'additional information not available',
  25: 'system failure',
};
/** Real authorities return a text of one sentence. */
const LONGEST_TEXT = 2000;

export function readTimestampResponse(bytes: Uint8Array): TimestampResponse {
  const what = 'TimeStampResp';
  const response = fieldsOf(readElement(bytes, what), 0x30, what);
  const information = fieldsOf(response.next(0x30, 'status'), 0x30, 'PKIStatusInfo');
  const status = smallNumberOf(information.next(0x02, 'status'));
  const texts = information.optional(0x30);
  const failure = information.optional(0x03);
  const token = response.optional(0x30);
  response.end();
  if (status <= LAST_GRANTING_STATUS && token !== undefined) return { token: token.bytes };
  const name = STATUSES[status] ?? 'an unknown status';
  const words = [...textsIn(texts), ...failuresIn(failure)].join('; ');
  const refusal = status <= LAST_GRANTING_STATUS ? `${name}, but without a token` : name;
  return { refusal: words === '' ? refusal : `${refusal} (${words})` };
}

function smallNumberOf({ contents }: Element): number {
  const [only] = contents;
  return contents.length === 1 && only !== undefined && only < 0x80 ? only : UNKNOWN_STATUS;
}

function textsIn(texts: Element | undefined): readonly string[] {
  if (texts === undefined) return [];
  const all = parts(texts, 'statusString').map((text) => octetsOf({ ...text, tag: 0x04 }, 'statusString'));
  const text = Buffer.concat(all.flatMap((one, index) => (index === 0 ? [one] : [Buffer.from(' '), one])));
  return [withoutDenseRuns(text.subarray(0, LONGEST_TEXT).toString('utf8'))];
}

function failuresIn(bits: Element | undefined): readonly string[] {
  if (bits === undefined) return [];
  return [...Array(32).keys()]
    .filter((bit) => ((bits.contents[1 + (bit >> 3)] ?? 0) & (0x80 >> (bit & 7))) !== 0)
    .map((bit) => FAILURES[bit] ?? `failure ${bit}`);
}
