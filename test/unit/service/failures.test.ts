/** What follows from a failed call. Every failing answer itself: test/system/cli/service/service-answers.test.ts. */

import { expect, test } from 'vitest';
import { type CodesignError, toCodesignError } from '../../../src/errors/codesign-error.ts';
import {
  businessErrors,
  mayHaveBeenCounted,
  networkErrors,
  statusErrors,
  stopsRun,
} from '../../../src/service/errors.ts';
import type { ServiceMode } from '../../support/services/misbehaving-service.ts';
import { SIGN_REQUEST } from '../../support/services/service-client.ts';
import { openMisbehaving } from './misbehaving-client.ts';

async function failureOf(mode: ServiceMode): Promise<unknown> {
  const { service } = await openMisbehaving(mode);
  return await service.sign(SIGN_REQUEST).catch((thrown: unknown) => thrown);
}

test.each<[ServiceMode, string]>([
  ['compressed-otherwise', 'it is compressed'],
  ['html', 'it is a web page'],
  ['empty-body', 'it is empty'],
  ['not-json', 'it is not JSON'],
  ['json-cut-short', 'its JSON is cut short or damaged'],
  ['envelope-in-an-array', 'it is not an envelope with an integer code'],
])('%s: the message says what came instead', async (mode, why) => {
  expect(await failureOf(mode)).toMatchObject({ message: expect.stringContaining(why) });
});

test.each<[ServiceMode, string]>([
  ['cut-in-the-signature', 'connection-broken'],
  ['json-cut-in-the-signature', 'malformed-answer'],
  ['success-with-two-lengths', 'connection-broken'],
  ['success-with-length-and-chunks', 'connection-broken'],
])('%s: the message says that a signature may have been counted, and of which record', async (mode, code) => {
  const message = expect.stringContaining('may have been made and counted (record record-1).');
  expect(await failureOf(mode)).toMatchObject({ code, message, record: 'record-1' });
});

test.each([
  [1, 'the service limits the rate of calls (HTTP 429)'],
  [2, 'the service limits the rate of calls (HTTP 429 after 2 attempts)'],
])('the message of a rate limit counts only repeated attempts: %i', (attempts, message) => {
  expect(statusErrors('throttled', { status: 429, attempts }).message).toBe(message);
});

const http = (httpStatus: number, serviceCode?: number) => {
  const details = { operation: 'sign', status: httpStatus, isUncertain: false, serviceCode };
  return statusErrors('http-error', details, { httpStatus, serviceCode });
};
const business = (serviceCode: number) =>
  businessErrors('refused', { operation: 'sign', serviceCode }, { httpStatus: 200, serviceCode });

test('may have been counted: statuses of proxies that wait for a service, and what is not expected', () => {
  for (const status of [408, 499, 502, 504, 520, 521, 522, 523, 524, 525, 526, 527, 598, 599])
    expect([status, mayHaveBeenCounted(http(status))]).toEqual([status, true]);
  expect(mayHaveBeenCounted(toCodesignError(new TypeError('unexpected')))).toBe(true);
});

test.each([400, 500, 501, 503, 505, 519, 528].map(http))('was certainly not counted: $httpStatus', (error) => {
  expect(mayHaveBeenCounted(error)).toBe(false);
});

const at = { origin: 'https://x', detail: 'why' };
test.each<[what: string, error: CodesignError, unproven: boolean, proven: boolean]>([
  ['untrusted TLS', networkErrors('tls-untrusted', at), true, true],
  ['a closed port or an unknown host', networkErrors('service-unreachable', at), true, true],
  ['wrong credentials', statusErrors('unauthorized', {}, { httpStatus: 401 }), true, true],
  ['a used-up quota, HTTP 402', http(402, 402), true, true],
  ['a used-up quota, HTTP 403', http(403, 403), true, true],
  ['a used-up quota, code 402 under HTTP 200', business(402), true, true],
  ["the proxy's credentials", http(407), true, true],
  ['HTTP 400', http(400, 400), true, false],
  ['HTTP 404', http(404), true, false],
  ['code 400 under HTTP 200', business(400), true, false],
  ['a redirect', statusErrors('redirected', { status: 307, location: undefined }, { httpStatus: 307 }), true, false],
  ['HTTP 500', http(500), false, false],
  ['too many calls', statusErrors('throttled', { status: 429 }, { httpStatus: 429 }), false, false],
  ['a time-out', networkErrors('sign-timed-out', at), false, false],
])('an error of one call ends the run %s', (_what, error, unproven, proven) => {
  expect([stopsRun(error, false), stopsRun(error, true)]).toEqual([unproven, proven]);
});
