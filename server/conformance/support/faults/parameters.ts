/** Faults of the checks of section 7, and of `extra`. */

import { DIGEST_ALGORITHMS } from '../../../../src/crypto/algorithms.ts';
import { isObject } from '../../envelope.ts';
import { PARAMETER_RULES } from '../../rules/parameters.ts';
import { forgivingBehaviour } from '../behaviour.ts';
import { type Fault, fault } from '../fault.ts';

const PAIR = (first: string, second: string) => `the service checks \`${first}\` before \`${second}\``;

/** Values that a deployment can correct, except those that the forgiving one does not. */
const CORRECTED = PARAMETER_RULES.filter(
  ({ title, spends }) =>
    spends > 0 &&
    title.endsWith('gets error code 400') &&
    !/MD5|SHA224|padding in the middle|hexadecimal text encoded/.test(title),
).map(({ title }) => title);

export const PARAMETER_FAULTS: readonly Fault[] = [
  { name: 'corrects whatever it can', change: forgivingBehaviour, breaks: CORRECTED },
  fault('signs for any certificate number', () => ({ certificate: (code) => typeof code === 'string' }), [
    'a request whose `code` field identifies no certificate gets error code 400',
    'a request whose `code` field is an empty string gets error code 400',
    'a request whose `code` field contains text after the certificate number gets error code 400',
  ]),
  fault(
    'signs digests of any length',
    () => ({ algorithm: (name) => DIGEST_ALGORITHMS.find((algorithm) => algorithm === name) }),
    [/^a request whose `digest` field is hexadecimal text/, /^a SHA\d+ request whose digest is .* bytes long/],
  ),
  fault('checks no padding', () => ({ padding: () => true }), [/^a request whose `padding` .* gets error code 400$/]),
  fault('checks the padding before all else', () => ({ order: ['padding', 'code', 'digest', 'algorithm', 'extra'] }), [
    PAIR('code', 'padding'),
    PAIR('digest', 'padding'),
    PAIR('algorithm', 'padding'),
  ]),
  fault(
    'has 422 for a wrong parameter',
    ({ body }) => ({ body: (code, ...more) => body(code === 400 ? 422 : code, ...more) }),
    [/ gets error code 400$/, /^the service checks .* before /],
  ),
  fault('refuses any extra', () => ({ extra: (value) => value === undefined }), [
    /^the service accepts a request whose `extra` object /,
    /^the service accepts a request (with a file size|whose file name) /,
    'the service accepts a request with empty strings in `extra`',
  ]),
  fault('wants an extra', () => ({ extra: isObject }), [
    'the service accepts a request without `extra`',
    /^SHA\d+: the service signs a digest of /,
    '8 concurrent calls get 8 different ids',
    'a request needs only the three documented headers, with names in any letter case',
    'the response to a valid request has HTTP 2xx, code 0 and a non-empty `data.signature`',
  ]),
];
