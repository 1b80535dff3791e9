/** Faults of authentication, and of what is around the requests. */

import { type Fault, fault } from '../fault.ts';

/** Titles of the rules for both operations. */
const ofBoth = (...headers: readonly string[]) =>
  ['sign', 'report-sign'].flatMap((operation) =>
    headers.map((header) => `a \`${operation}\` request with ${header} gets error code 401`),
  );

const BEHIND = ['the Bearer scheme', 'extra text after the credentials'];

export const CREDENTIALS_FAULTS: readonly Fault[] = [
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
];
