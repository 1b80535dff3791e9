/** Which failures of a sign call leave it open whether a signature was made and counted. */

import { describe, expect, it } from 'vitest';
import { toCodesignError } from '../../../src/errors/codesign-error.ts';
import { businessErrors, mayHaveBeenCounted, networkErrors, statusErrors } from '../../../src/service/errors.ts';

const UNANSWERED = { origin: '', detail: '' };
const ANSWERED = { operation: 'sign', status: 500, isUncertain: false, why: '' };

describe('a sign call that failed', () => {
  it.each([
    networkErrors('sign-timed-out', UNANSWERED),
    networkErrors('connection-broken', UNANSWERED),
    businessErrors('malformed-answer', ANSWERED),
    businessErrors('signature-unreadable'),
    ...[408, 499, 502, 504, 520, 521, 522, 523, 524, 525, 526, 527, 598, 599].map((httpStatus) =>
      statusErrors('http-error', ANSWERED, { httpStatus }),
    ),
    toCodesignError(new TypeError('unexpected')),
  ])('may have been counted: $code $httpStatus', (error) => {
    expect(mayHaveBeenCounted(error)).toBe(true);
  });

  it.each([
    networkErrors('service-unreachable', UNANSWERED),
    networkErrors('tls-untrusted', UNANSWERED),
    networkErrors('interrupted', { ...ANSWERED, what: 'sent' }),
    businessErrors('refused', ANSWERED),
    businessErrors('no-signature', ANSWERED),
    businessErrors('unauthorized', {}),
    statusErrors('throttled', ANSWERED),
    ...[400, 404, 500, 501, 503, 505, 519, 528].map((httpStatus) =>
      statusErrors('http-error', ANSWERED, { httpStatus }),
    ),
  ])('was certainly not counted: $code $httpStatus', (error) => {
    expect(mayHaveBeenCounted(error)).toBe(false);
  });
});
