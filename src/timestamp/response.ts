/** The answer of a time stamp authority (TimeStampResp, RFC 3161, 2.4.2): a token, or why there is none. */

import { type Element, fieldsOf, octetsOf, parts, readElement } from '../asn1/read.ts';

export type TimestampResponse =
  | { readonly token: Uint8Array }
  /** For people. Raw: may hold control characters. */
  | { readonly refusal: string };

/** PKIStatus. The first two give a token. */
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

/** Bits of PKIFailureInfo. */
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
/** Real ones are a sentence. */
const LONGEST_TEXT = 2000;

/** Throws `asn1-malformed`. */
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

/** What is no number of a known status is an unknown one. */
function smallNumberOf({ contents }: Element): number {
  const [only] = contents;
  return contents.length === 1 && only !== undefined && only < 0x80 ? only : UNKNOWN_STATUS;
}

/** PKIFreeText: UTF8Strings. */
function textsIn(texts: Element | undefined): readonly string[] {
  if (texts === undefined) return [];
  const all = parts(texts, 'statusString').map((text) => octetsOf({ ...text, tag: 0x04 }, 'statusString'));
  return [
    Buffer.concat(all.flatMap((text, index) => (index === 0 ? [text] : [Buffer.from(' '), text])))
      .subarray(0, LONGEST_TEXT)
      .toString('utf8'),
  ];
}

/** The set bits of a BIT STRING, in words. */
function failuresIn(bits: Element | undefined): readonly string[] {
  if (bits === undefined) return [];
  return [...Array(32).keys()]
    .filter((bit) => ((bits.contents[1 + (bit >> 3)] ?? 0) & (0x80 >> (bit & 7))) !== 0)
    .map((bit) => FAILURES[bit] ?? `failure ${bit}`);
}
