import { expect, it } from 'vitest';
import type { CodesignError } from '../../../src/errors/codesign-error.ts';
import { businessErrors, networkErrors, statusErrors, stopsRun } from '../../../src/service/errors.ts';

const at = { origin: 'https://x', detail: 'why' };
const http = (httpStatus: number, serviceCode?: number) => {
  const details = { operation: 'sign', status: httpStatus, isUncertain: false, serviceCode };
  return statusErrors('http-error', details, { httpStatus, serviceCode });
};
const business = (serviceCode: number) =>
  businessErrors('refused', { operation: 'sign', serviceCode }, { httpStatus: 200, serviceCode });

it.each<[what: string, error: CodesignError, unproven: boolean, proven: boolean]>([
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
