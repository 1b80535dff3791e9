/** Faults of fake deployments, and exactly the rules that each breaks. */

import { constants, privateEncrypt, sign } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DIGEST_ALGORITHMS, NODE_DIGEST_NAME } from '../../../src/crypto/algorithms.ts';
import { isObject } from '../envelope.ts';
import { PARAMETER_RULES } from '../rules/parameters.ts';
import { digestInfo } from '../signature.ts';
import {
  type Behaviour,
  type Counted,
  forgivingBehaviour,
  goodBehaviour,
  type Keeper,
  signatureOver,
} from './behaviour.ts';
import type { FakeOptions } from './fake-deployment.ts';

interface Fault extends FakeOptions {
  readonly name: string;
  /** Titles of the rules that it breaks, or patterns that match exactly these titles. */
  readonly breaks: readonly (string | RegExp)[];
}

function fault(
  name: string,
  change: (good: Behaviour, keeper: Keeper) => Partial<Behaviour>,
  breaks: readonly (string | RegExp)[],
): Fault {
  return { name, change: (keeper) => change(goodBehaviour(keeper), keeper), breaks };
}

/** Signs the latest digest of any call, like a server with one variable for all calls. */
function keptForAll(good: Behaviour): Behaviour['signature'] {
  let latest: Buffer = Buffer.alloc(0);
  return async (algorithm, digest) => {
    latest = digest;
    await sleep(20);
    return good.signature(algorithm, latest);
  };
}

/** Changes the signatures of one algorithm only. */
const otherwiseFor =
  (wanted: string, other: Behaviour['signature']) =>
  ({ signature }: Behaviour): Partial<Behaviour> => ({
    signature: (algorithm, digest) => (algorithm === wanted ? other : signature)(algorithm, digest),
  });

const PAIR = (first: string, second: string) => `the service checks \`${first}\` before \`${second}\``;

/** Values that a deployment can correct, except those that the forgiving one does not. */
const CORRECTED = PARAMETER_RULES.filter(
  ({ title, spends }) =>
    spends > 0 &&
    title.endsWith('gets error code 400') &&
    !/MD5|SHA224|padding in the middle|hexadecimal text encoded/.test(title),
).map(({ title }) => title);

/** Titles of the rules for both operations. */
const ofBoth = (...headers: readonly string[]) =>
  ['sign', 'report-sign'].flatMap((operation) =>
    headers.map((header) => `a \`${operation}\` request with ${header} gets error code 401`),
  );

const BEHIND = ['the Bearer scheme', 'extra text after the credentials'];

const ENVELOPES_OF_ERRORS = [
  /^the response to (?!a report is).* is a JSON envelope$/,
  'the response to an authentication failure is a JSON envelope whose `data` is null',
  'the response to a parameter error is a JSON envelope whose `data` is null',
];
const UNREADABLE =
  /^the response to (a request body (that|with)|a request without a body|a report whose body is (not JSON|an array)).* is a JSON envelope$/;

const COUNTED: readonly (readonly [Counted, readonly (string | RegExp)[]])[] = [
  ['unauthorized', ['the service does not count an authentication failure']],
  ['parameter', ['the service does not count a request with a wrong parameter']],
  ['unreadable', ['the service does not count a request that it cannot read']],
  ['broken-off', ['the service does not count an interrupted request']],
  ['report', [/^(a report|reports) .* (does|do) not change the count$/]],
];
const SIGNATURES_COUNT = ['the service counts each signature once', 'the service counts every concurrent signature'];

export const FAULTS: readonly Fault[] = [
  fault(
    'signs by PSS',
    (_good, { key }) => ({
      signature: async (algorithm, digest) =>
        sign(NODE_DIGEST_NAME[algorithm], digest, { key, padding: constants.RSA_PKCS1_PSS_PADDING }).toString('base64'),
    }),
    [/RSASSA-PKCS1-v1_5/, /^each of 8 concurrent calls/, /^the same digest always gets the same signature/],
  ),
  fault(
    'names SHA256 in the DigestInfo of SHA512',
    (good, { key }) =>
      otherwiseFor('SHA512', async (_algorithm, digest) => signatureOver(key, digestInfo('SHA256', digest)))(good),
    ['SHA512: the signature is RSASSA-PKCS1-v1_5 over the digest that was sent'],
  ),
  fault(
    'gives signatures in Base64 for addresses',
    (_good, { key }) => ({
      signature: async (algorithm, digest) => privateEncrypt(key, digestInfo(algorithm, digest)).toString('base64url'),
    }),
    ['`data.signature` is encoded in Base64'],
  ),
  fault(
    'gives an empty signature for SHA384',
    otherwiseFor('SHA384', async () => ''),
    ['SHA384: the service signs a digest of 48 bytes'],
  ),
  fault('gives empty ids', () => ({ record: () => '' }), [
    '`data.id` is a non-empty string',
    'signatures of different digests have different ids',
    '8 concurrent calls get 8 different ids',
    'the service rejects a report whose `id` field is an empty string',
  ]),
  fault('keeps one variable for all calls at once', (good) => ({ signature: keptForAll(good) }), [
    'each of 8 concurrent calls gets a signature for its own digest',
  ]),
  fault('is confused by a client that leaves', () => ({ staggers: true }), [
    'a client that disconnects during its request does not affect other calls',
  ]),
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
  fault('takes any credentials', () => ({ authorized: () => true }), [/ gets error code 401$/]),
  fault(
    'looks at the access key alone',
    (_good, { credentials: { accessKey } }) => ({
      authorized: ([header = '']) => Buffer.from(header.slice(6), 'base64').toString().startsWith(`${accessKey}:`),
    }),
    [
      ...ofBoth(...BEHIND, 'an empty access secret', 'a wrong access secret'),
      / request with (one|upper) .* the access secret gets error code 401$/,
    ],
  ),
  fault(
    'compares secrets without their case',
    (_good, { credentials: { accessKey, accessSecret } }) => ({
      authorized: ([header = '']) =>
        Buffer.from(header.slice(6), 'base64').toString().toLowerCase() ===
        `${accessKey}:${accessSecret}`.toLowerCase(),
    }),
    ofBoth(...BEHIND, 'upper and lower case swapped in the access secret'),
  ),
  fault(
    'takes the scheme in one spelling',
    ({ authorized }) => ({ authorized: (headers) => /^Basic /.test(headers[0] ?? '') && authorized(headers) }),
    ['the service accepts the scheme name Basic in any letter case (RFC 7617, section 2)'],
  ),
  fault('gives no challenge', () => ({ challenge: undefined }), [
    'a response with HTTP 401 has a WWW-Authenticate header for the Basic scheme (RFC 9110, section 11.6.1)',
  ]),
  fault(
    'quotes the header that it refuses',
    ({ body }) => ({ body: (code, message, data, by) => body(code, code === 401 ? by : message, data, by) }),
    ['no response contains the access secret or the Authorization header'],
  ),
  fault(
    'returns the secret to the rejected caller',
    ({ body }, { credentials: { accessSecret } }) => ({
      body: (code, message, data, by) => body(code, code === 400 ? `${message}, ${accessSecret}` : message, data, by),
    }),
    ['no response contains the access secret or the Authorization header'],
  ),
  { name: 'serves plain HTTP', plain: true, breaks: ['the service does not serve plain HTTP on the same port'] },
  { name: 'takes TLS 1.1', oldTls: true, breaks: ['the service rejects TLS 1.0 and 1.1 (RFC 8996)'] },
  fault('serves PUT', () => ({ routing: (_method, path) => (path.startsWith('/v1/codesign/') ? 0 : 404) }), [
    /^the service does not accept PUT for a valid `(report-)?sign` request$/,
  ]),
  fault(
    'has a success for other versions',
    ({ routing, body, httpStatus }) => ({
      routing: (method, path) => (path.startsWith('/v2/') ? -1 : routing(method, path)),
      body: (code, ...more) => body(Math.max(code, 0), ...more),
      httpStatus: (code) => httpStatus(Math.max(code, 0)),
    }),
    ['the service rejects a request for a path of another API version'],
  ),
  fault('has no message', () => ({ body: (code, _message, data) => JSON.stringify({ code, data }) }), [
    ...ENVELOPES_OF_ERRORS,
    'the response with a signature is a JSON envelope: `code` is an integer, `message` a string and `data` an object',
    'the response to a report is a JSON envelope',
  ]),
  fault(
    'has an object as the data of errors',
    ({ body }) => ({ body: (code, message, data, by) => body(code, message, code === 0 ? data : {}, by) }),
    ENVELOPES_OF_ERRORS.slice(1),
  ),
  fault(
    'has a signature in its refusals of a padding',
    ({ body }) => ({
      body: (code, message, data, by) => body(code, message, /padding/.test(message) ? { signature: 'x' } : data, by),
    }),
    [/^a request whose `padding` .* gets error code 400$/],
  ),
  fault(
    'has a page for what it cannot read',
    ({ body }) => ({
      body: (code, message, ...more) => (message === 'cannot be read' ? '<h1>Bad</h1>' : body(code, message, ...more)),
    }),
    [UNREADABLE],
  ),
  fault(
    'has its successes under HTTP 500',
    ({ httpStatus }) => ({ httpStatus: (code) => (code === 0 ? 500 : httpStatus(code)) }),
    [
      /(^|: )the service signs /,
      /^the service accepts a request /,
      '8 concurrent calls get 8 different ids',
      'a request needs only the three documented headers, with names in any letter case',
      'the response to a valid request has HTTP 2xx, code 0 and a non-empty `data.signature`',
    ],
  ),
  fault('takes any status', () => ({ report: (isKnown) => (isKnown ? 0 : 400) }), [
    /^the service rejects a report whose `status` field is /,
    'how the service rejects a report of status 3',
  ]),
  fault(
    'does not take status 2',
    ({ report }) => ({ report: (isKnown, asked) => (asked.status === 2 ? 400 : report(isKnown, asked)) }),
    ['the service accepts a report of status 2'],
  ),
  fault(
    'takes a report without an id',
    () => ({ report: (_isKnown, { status }) => (status === 1 || status === 2 ? 0 : 400) }),
    [/^the service rejects a report whose `id` field is /, 'how the service rejects a report without an id'],
  ),
  fault(
    'has data for a report',
    ({ body }) => ({ body: (code, message, data, by) => body(code, message, code === 0 ? (data ?? {}) : data, by) }),
    ['the response to an accepted report has `data` null'],
  ),
  ...COUNTED.map(([event, breaks]) =>
    fault(
      `counts what is ${event}`,
      ({ counts }) => ({ counts: (each) => (each === event ? 1 : counts(each)) }),
      breaks,
    ),
  ),
  fault('counts a signature twice', ({ counts }) => ({ counts: (event) => 2 * counts(event) }), SIGNATURES_COUNT),
  fault('counts nothing', () => ({ counts: () => 0 }), SIGNATURES_COUNT),
];
