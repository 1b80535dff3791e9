/** Each failing answer of a signing service ends in its own error, and in no second request. */

import { describe, expect, test } from 'vitest';
import { CodesignError } from '../../../src/errors/codesign-error.ts';
import { isUnauthorized, statusErrors } from '../../../src/service/errors.ts';
import {
  type MisbehavingServiceOptions,
  type ServiceMode,
  startMisbehavingService,
} from '../../support/services/misbehaving-service.ts';
import { openServiceClient, SIGN_REQUEST } from '../../support/services/service-client.ts';

interface Expected {
  readonly category: string;
  readonly code: string;
  readonly httpStatus?: number;
  readonly serviceCode?: number;
  /** Default: exactly one. */
  readonly signRequests?: number;
  readonly mayHaveBeenCounted?: boolean;
}

const business = (code: string, rest: Partial<Expected> = {}): Expected => ({
  category: 'business',
  code,
  httpStatus: 200,
  ...rest,
});
const http = (code: string, httpStatus: number, rest: Partial<Expected> = {}): Expected => ({
  category: 'http',
  code,
  httpStatus,
  ...rest,
});
const network = (code: string, rest: Partial<Expected> = {}): Expected => ({ category: 'network', code, ...rest });
const malformed = business('malformed-answer', { mayHaveBeenCounted: true });
const noSignature = business('no-signature', { serviceCode: 0 });

const CASES: Partial<Record<ServiceMode, Expected>> = {
  refused: business('refused', { serviceCode: 1001 }),
  'parameter-error': business('refused', { serviceCode: 400 }),
  'code-a-string': malformed,
  'code-a-fraction': malformed,
  'code-missing': malformed,
  'data-null': noSignature,
  'signature-missing': noSignature,
  'signature-null': noSignature,
  'signature-empty': noSignature,
  'signature-not-base64': { ...noSignature, code: 'signature-unreadable' },
  html: malformed,
  'empty-body': malformed,
  'no-content': { ...malformed, httpStatus: 204 },
  'not-json': malformed,
  'json-array': malformed,
  'json-cut-short': malformed,
  'endless-body': malformed,
  redirect: http('redirected', 307, { serviceCode: 307 }),
  'redirect-302': http('redirected', 302, { serviceCode: 302 }),
  'server-error': http('http-error', 500),
  'server-error-envelope': http('http-error', 500, { serviceCode: 5001 }),
  'success-with-status-500': http('http-error', 500, { serviceCode: 0 }),
  'error-cut-short': http('http-error', 500),
  'not-found': http('http-error', 404),
  'bad-gateway': http('http-error', 502, { mayHaveBeenCounted: true }),
  unavailable: http('http-error', 503, { mayHaveBeenCounted: true }),
  'unauthorized-200': business('unauthorized', { serviceCode: 401 }),
  'unauthorized-401': http('unauthorized', 401, { serviceCode: 401 }),
  'unauthorized-401-page': http('unauthorized', 401),
  'unauthorized-401-other-code': http('unauthorized', 401, { serviceCode: 12 }),
  'unauthorized-403': http('unauthorized', 403, { serviceCode: 401 }),
  'unauthorized-503': http('unauthorized', 503, { serviceCode: 401 }),
  'breaks-before-answer': network('connection-broken', { mayHaveBeenCounted: true }),
  'breaks-during-head': network('connection-broken', { mayHaveBeenCounted: true }),
  'breaks-during-body': network('connection-broken', { httpStatus: 200, mayHaveBeenCounted: true }),
  'answers-not-http': network('connection-broken', { mayHaveBeenCounted: true }),
  hangs: network('sign-timed-out', { mayHaveBeenCounted: true }),
  'hangs-in-body': network('sign-timed-out', { httpStatus: 200, mayHaveBeenCounted: true }),
  'slow-drip': network('sign-timed-out', { httpStatus: 200, mayHaveBeenCounted: true }),
  'no-tls': network('tls-failed', { signRequests: 0 }),
};

/** These end only with the deadline. */
const SLOW: ReadonlySet<string> = new Set(['hangs', 'hangs-in-body', 'slow-drip']);

async function signAgainst(mode: ServiceMode, options: MisbehavingServiceOptions = {}) {
  const misbehaving = await startMisbehavingService(mode, options);
  const { baseUrl, caFile } = misbehaving;
  const timeoutMilliseconds = SLOW.has(mode) ? 600 : 10_000;
  const { service, waits } = await openServiceClient({ baseUrl, caFile, timeoutMilliseconds });
  try {
    const outcome = await service.sign(SIGN_REQUEST).catch((thrown: unknown) => thrown);
    return { outcome, waits, signRequests: misbehaving.signRequests(), requests: misbehaving.requests() };
  } finally {
    await service.close();
    await misbehaving.stop();
  }
}

describe('a failing answer to sign', () => {
  test.each(Object.entries(CASES))('%s', async (mode, expected) => {
    const { outcome, waits, signRequests, requests } = await signAgainst(mode as ServiceMode);
    expect(outcome).toBeInstanceOf(CodesignError);
    const error = outcome as CodesignError;
    expect({
      category: error.category,
      code: error.code,
      httpStatus: error.httpStatus,
      serviceCode: error.serviceCode,
    }).toEqual(pick(expected));
    expect(error.hint).toBeTruthy();
    expect(isUnauthorized(error)).toBe(expected.code === 'unauthorized');
    expect(error.message.includes('may have been made and counted')).toBe(expected.mayHaveBeenCounted ?? false);
    expect(signRequests).toBe(expected.signRequests ?? 1);
    expect(requests).toHaveLength(signRequests);
    expect(waits).toEqual([]);
  });

  test('an untrusted certificate: nothing is sent, nothing repeated', async () => {
    for (const certificate of ['untrusted', 'expired', 'other-name'] as const) {
      const { outcome, waits, requests } = await signAgainst('good', { certificate });
      expect(outcome).toMatchObject({ category: 'network', code: 'tls-untrusted' });
      expect(requests).toEqual([]);
      expect(waits).toEqual([]);
    }
  });
});

test.each<[ServiceMode, string]>([
  ['compressed-otherwise', 'it is compressed'],
  ['html', 'it is a web page'],
  ['empty-body', 'it is empty'],
  ['not-json', 'it is not JSON'],
  ['json-cut-short', 'its JSON is cut short or damaged'],
  ['envelope-in-an-array', 'it is not an envelope with an integer code'],
])('%s: the message says what came instead', async (mode, why) => {
  const { outcome } = await signAgainst(mode);
  expect(outcome).toMatchObject({ message: expect.stringContaining(why) });
});

test.each([
  [1, 'the service limits the rate of calls (HTTP 429)'],
  [2, 'the service limits the rate of calls (HTTP 429 after 2 attempts)'],
])('the message of a rate limit counts only repeated attempts: %i', (attempts, message) => {
  expect(statusErrors('throttled', { status: 429, attempts }).message).toBe(message);
});

describe('an odd answer that is a success anyway', () => {
  test.each<[ServiceMode, string | undefined]>([
    ['good', 'record-1'],
    ['breaks-after-answer', 'record-1'],
    ['information-first', 'record-1'],
    ['message-no-text', 'record-1'],
    ['wrapped-base64', 'record-1'],
    ['id-missing', undefined],
  ])('%s', async (mode, id) => {
    const { outcome, signRequests } = await signAgainst(mode);
    expect(outcome).toEqual({ id, signature: new Uint8Array(256).fill(0x5a) });
    expect(signRequests).toBe(1);
  });
});

function pick({ category, code, httpStatus, serviceCode }: Expected) {
  return { category, code, httpStatus, serviceCode };
}
