/** Tells by the HTTP status alone if a signature may have been counted. service-answers.test.ts has all other failures. */

import { expect, it } from 'vitest';
import { toCodesignError } from '../../../src/errors/codesign-error.ts';
import { mayHaveBeenCounted, statusErrors } from '../../../src/service/errors.ts';

const http = (httpStatus: number) =>
  statusErrors('http-error', { operation: 'sign', status: httpStatus, isUncertain: false }, { httpStatus });

it('may have been counted: statuses of proxies that wait for a service, and what is not expected', () => {
  for (const status of [408, 499, 502, 504, 520, 521, 522, 523, 524, 525, 526, 527, 598, 599])
    expect([status, mayHaveBeenCounted(http(status))]).toEqual([status, true]);
  expect(mayHaveBeenCounted(toCodesignError(new TypeError('unexpected')))).toBe(true);
});

it.each([400, 500, 501, 503, 505, 519, 528].map(http))('was certainly not counted: $httpStatus', (error) => {
  expect(mayHaveBeenCounted(error)).toBe(false);
});
