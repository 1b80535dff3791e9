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
    statusErrors('http-error', {}, { httpStatus: 502 }),
    statusErrors('http-error', {}, { httpStatus: 504 }),
    toCodesignError(new TypeError('nobody foresaw this')),
  ])('may have been counted: $code', (error) => {
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
    statusErrors('http-error', {}, { httpStatus: 500 }),
  ])('was certainly not counted: $code', (error) => {
    expect(mayHaveBeenCounted(error)).toBe(false);
  });
});
