/** Which failures of a sign call leave it open whether a signature was made and counted. */

import { describe, expect, it } from 'vitest';
import { toCodesignError } from '../../src/errors/codesign-error.ts';
import { businessErrors, mayHaveBeenCounted, networkErrors, statusErrors } from '../../src/service/errors.ts';

describe('a sign call that failed', () => {
  it.each([
    networkErrors('sign-timed-out'),
    networkErrors('connection-broken'),
    businessErrors('malformed-answer'),
    businessErrors('signature-unreadable'),
    ...[408, 499, 502, 504, 520, 521, 522, 523, 524, 525, 526, 527, 598, 599].map((httpStatus) =>
      statusErrors('http-error', {}, { httpStatus }),
    ),
    toCodesignError(new TypeError('nobody foresaw this')),
  ])('may have been counted: $code $httpStatus', (error) => {
    expect(mayHaveBeenCounted(error)).toBe(true);
  });

  it.each([
    networkErrors('service-unreachable'),
    networkErrors('tls-untrusted'),
    networkErrors('interrupted'),
    businessErrors('refused'),
    businessErrors('no-signature'),
    businessErrors('unauthorized'),
    statusErrors('throttled'),
    ...[400, 404, 500, 501, 503, 505, 519, 528].map((httpStatus) => statusErrors('http-error', {}, { httpStatus })),
  ])('was certainly not counted: $code $httpStatus', (error) => {
    expect(mayHaveBeenCounted(error)).toBe(false);
  });
});
