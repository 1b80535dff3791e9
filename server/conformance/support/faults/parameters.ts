/** Faults of the checks of section 7, and of `extra`. */

import { DIGEST_ALGORITHMS } from '../../../../src/crypto/algorithms.ts';
import { isObject } from '../../envelope.ts';
import { type Fault, fault, ofText } from '../fault.ts';

const PAIR = (first: string, second: string) => `a wrong \`${first}\` is rejected before a wrong \`${second}\``;

export const PARAMETER_FAULTS: readonly Fault[] = [
  fault('signs for any certificate number', () => ({ certificate: (code) => typeof code === 'string' }), [
    'a request whose `code` field identifies no certificate is rejected with error code 400',
    'a request whose `code` field is an empty string is rejected with error code 400',
    'a request whose `code` field contains text after the certificate number is rejected with error code 400',
  ]),
  fault(
    'takes numbers for certificate numbers',
    ({ certificate }) => ({ certificate: (code) => certificate(typeof code === 'number' ? `${code}` : code) }),
    ['a request whose `code` field is a number is rejected with error code 400'],
  ),
  fault(
    'drops white space from a digest',
    ({ digest }) => ({ digest: ofText((text) => digest(text.replace(/\s/g, ''))) }),
    [/^a request whose `digest` field (contains|begins with|ends with) a (space|line break) /],
  ),
  fault(
    'drops foreign characters from a digest',
    ({ digest }) => ({ digest: ofText((text) => digest(text.replace(/[^A-Za-z\d+/=\s]/g, ''))) }),
    ['a request whose `digest` field contains a character outside the Base64 alphabet is rejected with error code 400'],
  ),
  fault(
    'takes digests in the URL-safe alphabet',
    ({ digest }) => ({ digest: ofText((text) => digest(text.replaceAll('-', '+').replaceAll('_', '/'))) }),
    ['a request whose `digest` field uses the URL-safe alphabet is rejected with error code 400'],
  ),
  fault(
    'takes digests without their padding',
    ({ digest }) => ({ digest: ofText((text) => digest(text.padEnd(Math.ceil(text.length / 4) * 4, '='))) }),
    ['a request whose `digest` field lacks the padding is rejected with error code 400'],
  ),
  fault(
    'takes hexadecimal digests',
    ({ digest }) => ({
      digest: ofText((text) => (/^[\da-f]{64}$/.test(text) ? Buffer.from(text, 'hex') : digest(text))),
    }),
    ['a request whose `digest` field is hexadecimal text is rejected with error code 400'],
  ),
  fault(
    'signs digests of any length',
    () => ({ algorithm: (name) => DIGEST_ALGORITHMS.find((algorithm) => algorithm === name) }),
    [/^a request whose `digest` field is hexadecimal text/, /^a SHA\d+ request whose digest is .* bytes long/],
  ),
  fault(
    'takes algorithms in any case',
    ({ algorithm }) => ({ algorithm: (name, digest) => algorithm(ofText((text) => text.toUpperCase())(name), digest) }),
    ['a request whose `algorithm` field is in lower case is rejected with error code 400'],
  ),
  fault(
    'takes SHA256 where no algorithm is named',
    ({ algorithm }) => ({ algorithm: (name = 'SHA256', digest) => algorithm(name, digest) }),
    ['a request whose `algorithm` field is missing is rejected with error code 400'],
  ),
  fault('takes PSS', ({ padding }) => ({ padding: (name) => name === 'PSS' || padding(name) }), [
    'a request whose `padding` field is PSS is rejected with error code 400',
  ]),
  fault('takes a missing padding for PKCS1', () => ({ padding: (name = 'PKCS1') => name === 'PKCS1' }), [
    'a request whose `padding` field is missing is rejected with error code 400',
  ]),
  fault('checks no padding', () => ({ padding: () => true }), [
    /^a request whose `padding` .* is rejected with error code 400$/,
  ]),
  fault('checks the padding before all else', () => ({ order: ['padding', 'code', 'digest', 'algorithm', 'extra'] }), [
    PAIR('code', 'padding'),
    PAIR('digest', 'padding'),
    PAIR('algorithm', 'padding'),
  ]),
  fault('checks the digest before the code', () => ({ order: ['digest', 'code', 'algorithm', 'padding', 'extra'] }), [
    PAIR('code', 'digest'),
  ]),
  fault(
    'has 422 for a wrong parameter',
    ({ body }) => ({ body: (code, ...more) => body(code === 400 ? 422 : code, ...more) }),
    [/ is rejected with error code 400$/, /^a wrong .* is rejected before /],
  ),
  fault('refuses any extra', () => ({ extra: (value) => value === undefined }), [
    /^a request whose `extra` object .* is signed$/,
    /^a request with a file (name|size) .* is signed$/,
    'a request with empty strings in `extra` is signed',
  ]),
  fault('wants an extra', () => ({ extra: isObject }), [
    'a request without `extra` is signed',
    /^SHA\d+: a digest of \d+ bytes is signed$/,
    '8 concurrent calls get 8 different ids',
    'a request needs only the three documented headers, with names in any letter case',
    'a valid request is answered with HTTP 2xx, code 0 and a non-empty `data.signature`',
  ]),
  fault(
    'takes no file of more than 4 GiB',
    () => ({ extra: (value) => !(isObject(value) && Number(value.signing_filesize) > 2 ** 32) }),
    [/^a request with a file size of (16 GiB|2\^53 − 1) is signed$/],
  ),
];
