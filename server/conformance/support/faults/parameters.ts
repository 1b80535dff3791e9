/** Faults of the checks of section 7, and of `extra`. */

import { DIGEST_ALGORITHMS } from '../../../../src/crypto/algorithms.ts';
import { isObject } from '../../envelope.ts';
import { type Fault, fault, ofText } from '../fault.ts';

const PAIR = (first: string, second: string) => `the service checks \`${first}\` before \`${second}\``;

export const PARAMETER_FAULTS: readonly Fault[] = [
  fault('signs for any certificate number', () => ({ certificate: (code) => typeof code === 'string' }), [
    'a request whose `code` field identifies no certificate gets error code 400',
    'a request whose `code` field is an empty string gets error code 400',
    'a request whose `code` field contains text after the certificate number gets error code 400',
  ]),
  fault(
    'takes numbers for certificate numbers',
    ({ certificate }) => ({ certificate: (code) => certificate(typeof code === 'number' ? `${code}` : code) }),
    ['a request whose `code` field is a number gets error code 400'],
  ),
  fault(
    'drops white space from a digest',
    ({ digest }) => ({ digest: ofText((text) => digest(text.replace(/\s/g, ''))) }),
    [/^a request whose `digest` field (contains|begins with|ends with) a (space|line break) /],
  ),
  fault(
    'drops foreign characters from a digest',
    ({ digest }) => ({ digest: ofText((text) => digest(text.replace(/[^A-Za-z\d+/=\s]/g, ''))) }),
    ['a request whose `digest` field contains a character outside the Base64 alphabet gets error code 400'],
  ),
  fault(
    'takes digests in the URL-safe alphabet',
    ({ digest }) => ({ digest: ofText((text) => digest(text.replaceAll('-', '+').replaceAll('_', '/'))) }),
    ['a request whose `digest` field uses the URL-safe alphabet gets error code 400'],
  ),
  fault(
    'takes digests without their padding',
    ({ digest }) => ({ digest: ofText((text) => digest(text.padEnd(Math.ceil(text.length / 4) * 4, '='))) }),
    ['a request whose `digest` field lacks the padding gets error code 400'],
  ),
  fault(
    'takes hexadecimal digests',
    ({ digest }) => ({
      digest: ofText((text) => (/^[\da-f]{64}$/.test(text) ? Buffer.from(text, 'hex') : digest(text))),
    }),
    ['a request whose `digest` field is hexadecimal text gets error code 400'],
  ),
  fault(
    'signs digests of any length',
    () => ({ algorithm: (name) => DIGEST_ALGORITHMS.find((algorithm) => algorithm === name) }),
    [/^a request whose `digest` field is hexadecimal text/, /^a SHA\d+ request whose digest is .* bytes long/],
  ),
  fault(
    'takes algorithms in any case',
    ({ algorithm }) => ({ algorithm: (name, digest) => algorithm(ofText((text) => text.toUpperCase())(name), digest) }),
    ['a request whose `algorithm` field is in lower case gets error code 400'],
  ),
  fault(
    'takes SHA256 where no algorithm is named',
    ({ algorithm }) => ({ algorithm: (name = 'SHA256', digest) => algorithm(name, digest) }),
    ['a request whose `algorithm` field is missing gets error code 400'],
  ),
  fault('takes PSS', ({ padding }) => ({ padding: (name) => name === 'PSS' || padding(name) }), [
    'a request whose `padding` field is PSS gets error code 400',
  ]),
  fault('takes a missing padding for PKCS1', () => ({ padding: (name = 'PKCS1') => name === 'PKCS1' }), [
    'a request whose `padding` field is missing gets error code 400',
  ]),
  fault('checks no padding', () => ({ padding: () => true }), [/^a request whose `padding` .* gets error code 400$/]),
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
    [/ gets error code 400$/, /^the service checks .* before /],
  ),
  fault('refuses any extra', () => ({ extra: (value) => value === undefined }), [
    /^the service signs a request whose `extra` object /,
    /^the service signs a request (with a file size|whose file name) /,
    'the service signs a request with empty strings in `extra`',
  ]),
  fault('wants an extra', () => ({ extra: isObject }), [
    'the service signs a request without `extra`',
    /^SHA\d+: the service signs a digest of /,
    '8 concurrent calls get 8 different ids',
    'a request needs only the three documented headers, with names in any letter case',
    'the response to a valid request has HTTP 2xx, code 0 and a non-empty `data.signature`',
  ]),
  fault(
    'takes no file of more than 4 GiB',
    () => ({ extra: (value) => !(isObject(value) && Number(value.signing_filesize) > 2 ** 32) }),
    [/^the service signs a request with a file size of (16 GiB|2\^53 − 1)$/],
  ),
];
