/** Answers of authorities: which status gives a token, and what the others say in words. */

import { describe, expect, it } from 'vitest';
import { contextConstructed, encode, sequence } from '../../../src/asn1/write.ts';
import { readTimestampResponse } from '../../../src/timestamp/request.ts';

const TOKEN = sequence(contextConstructed(0));
const number = (...octets: number[]): Uint8Array => encode(0x02, Uint8Array.from(octets));
const text = (words: string): Uint8Array => encode(0x0c, Buffer.from(words));
const respond = (status: readonly Uint8Array[], ...rest: readonly Uint8Array[]) =>
  readTimestampResponse(sequence(sequence(...status), ...rest));

describe('an answer', () => {
  it.each([0, 1])('of status %i gives its token', (status) => {
    expect(respond([number(status)], TOKEN)).toEqual({ token: TOKEN });
  });

  it.each([
    [[number(0)], 'granted, but without a token'],
    [[number(2)], 'rejection'],
    [[number(3)], 'waiting'],
    [[number(4)], 'revocation warning'],
    [[number(5)], 'revocation notification'],
    [[number(6)], 'an unknown status'],
    [[number(0, 0)], 'an unknown status'],
    [[number(0xff)], 'an unknown status'],
    [[number(2), encode(0x30, text('no'), text('never'))], 'rejection (no never)'],
    [[number(2), encode(0x03, Uint8Array.of(7, 0x80))], 'rejection (unknown or unsupported algorithm)'],
    [[number(2), encode(0x03, Uint8Array.of(5, 0x20))], 'rejection (transaction not permitted or supported)'],
    [[number(2), encode(0x03, Uint8Array.of(2, 0x04))], 'rejection (wrong data format)'],
    [
      [number(2), encode(0x03, Uint8Array.of(0, 0, 0x03))],
      'rejection (no time source available; policy not supported)',
    ],
    [
      [number(2), encode(0x03, Uint8Array.of(6, 0, 0, 0xc0))],
      'rejection (extension not supported; additional information not available)',
    ],
    [[number(2), encode(0x03, Uint8Array.of(6, 0, 0, 0, 0x60))], 'rejection (system failure; failure 26)'],
  ])('%# says: %s', (status, refusal) => {
    expect(respond(status)).toEqual({ refusal });
  });

  it('that rejects gives no token, even with one', () => {
    expect(respond([number(2)], TOKEN)).toEqual({ refusal: 'rejection' });
  });

  it('of endless words is cut', () => {
    const { refusal } = respond([number(2), encode(0x30, text('x'.repeat(100_000)))]) as { refusal: string };
    expect(refusal.length).toBeLessThan(2100);
  });

  it.each([
    ['warning', new Uint8Array()],
    ['a web page', Buffer.from('<html></html>')],
    ['no status', sequence()],
    ['a status that is not a number', sequence(sequence(text('0')))],
    ['more than a token', sequence(sequence(number(0)), TOKEN, TOKEN)],
  ])('that is %s cannot be read', (_what, bytes) => {
    expect(() => readTimestampResponse(bytes)).toThrowError(expect.objectContaining({ code: 'asn1-malformed' }));
  });
});
