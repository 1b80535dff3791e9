/** Which failures of a sign call leave it open whether a signature was made and counted. */

import { expect, it } from 'vitest';
import { toCodesignError } from '../../../src/errors/codesign-error.ts';
import { businessErrors, mayHaveBeenCounted, networkErrors, statusErrors } from '../../../src/service/errors.ts';

const UNANSWERED = { origin: '', detail: '' };
const ANSWERED = { operation: 'sign', status: 500, isUncertain: false, why: '' };
const http = (httpStatus: number) => statusErrors('http-error', ANSWERED, { httpStatus });

it.each([
  networkErrors('sign-timed-out', UNANSWERED),
  networkErrors('connection-broken', UNANSWERED),
  businessErrors('malformed-answer', ANSWERED),
  businessErrors('signature-unreadable'),
  ...[408, 499, 502, 504, 520, 521, 522, 523, 524, 525, 526, 527, 598, 599].map(http),
  toCodesignError(new TypeError('unexpected')),
])('may have been counted: $code $httpStatus', (error) => {
  expect(mayHaveBeenCounted(error)).toBe(true);
});

it.each([
  networkErrors('service-unreachable', UNANSWERED),
  networkErrors('interrupted', { ...ANSWERED, what: 'sent' }),
  businessErrors('refused', ANSWERED),
  businessErrors('no-signature', ANSWERED),
  statusErrors('throttled', ANSWERED),
  ...[400, 500, 501, 503, 505, 519, 528].map(http),
])('was certainly not counted: $code $httpStatus', (error) => {
  expect(mayHaveBeenCounted(error)).toBe(false);
});
