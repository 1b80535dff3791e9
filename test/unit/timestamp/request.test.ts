import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { contextConstructed, encode, sequence } from '../../../src/asn1/write.ts';
import { DIGEST_ALGORITHMS, NODE_DIGEST_NAME } from '../../../src/crypto/algorithms.ts';
import {
  buildTimestampRequest,
  isSameInteger,
  nonceOf,
  readTimestampResponse,
} from '../../../src/timestamp/request.ts';
import { openssl } from '../../support/programs/openssl.ts';

const policy = '1.3.6.1.4.1.99999.4294967295';
const cases = DIGEST_ALGORITHMS.map((algorithm, index) => [algorithm, index === 0 ? policy : undefined] as const);

it.each(cases)(
  'the request over a %s digest, with the policy %s, is what OpenSSL makes of the same',
  (algorithm, policy) => {
    const name = NODE_DIGEST_NAME[algorithm];
    const digest = createHash(name).update('signature').digest();
    const options = [
      '-digest',
      digest.toString('hex'),
      `-${name}`,
      ...(policy === undefined ? [] : ['-tspolicy', policy]),
    ];
    const theirs = openssl(['ts', '-query', ...options, '-cert', '-no_nonce']);
    const ours = Buffer.from(buildTimestampRequest({ algorithm, digest, policy, nonce: Uint8Array.of(5) }));
    // OpenSSL takes no nonce from outside.
    const nonce = ours.indexOf('0201050101ff', 'hex');
    const without = Buffer.concat([ours.subarray(2, nonce), ours.subarray(nonce + 3)]);
    expect(without.toString('hex')).toBe(theirs.subarray(2).toString('hex'));
  },
);

describe('the nonce', () => {
  it.each([
    ['8000000000000000', '00'],
    ['ffffffffffffffff', '7fffffffffffffff'],
    ['0080000000000000', '0080000000000000'],
    ['007f000000000000', '7f000000000000'],
    ['80000000000000ff', '00ff'],
  ])('of the random bytes %s is %s: positive, and as short as can be', (random, expected) => {
    expect(Buffer.from(nonceOf(Buffer.from(random, 'hex'))).toString('hex')).toBe(expected);
  });

  it('is compared as the number it is', () => {
    expect(isSameInteger(Uint8Array.of(0, 0, 5), Uint8Array.of(5))).toBe(true);
    expect(isSameInteger(Uint8Array.of(0, 0x80), Uint8Array.of(0x80))).toBe(false);
    expect(isSameInteger(Uint8Array.of(5), Uint8Array.of(6))).toBe(false);
  });
});

const TOKEN = sequence(contextConstructed(0));
const number = (...octets: number[]): Uint8Array => encode(0x02, Uint8Array.from(octets));
const text = (words: string): Uint8Array => encode(0x0c, Buffer.from(words));
const respond = (status: readonly Uint8Array[], ...rest: readonly Uint8Array[]) =>
  readTimestampResponse(sequence(sequence(...status), ...rest));

describe('an answer', () => {
  it('that grants, with changes too, gives its token, and one that rejects gives none', () => {
    for (const status of [0, 1]) expect(respond([number(status)], TOKEN)).toEqual({ token: TOKEN });
    expect(respond([number(2)], TOKEN)).toEqual({ refusal: 'rejection' });
  });

  it.each([
    [[number(0)], 'granted, but without a token'],
    [[number(6)], 'an unknown status'],
    [[number(0, 0)], 'an unknown status'],
    [[number(2), encode(0x30, text('no'), text('never'))], 'rejection (no never)'],
    [[number(2), encode(0x03, Uint8Array.of(7, 0x80))], 'rejection (unknown or unsupported algorithm)'],
    [[number(2), encode(0x03, Uint8Array.of(6, 0, 0, 0, 0x60))], 'rejection (system failure; failure 26)'],
  ])('%# says: %s', (status, refusal) => {
    expect(respond(status)).toEqual({ refusal });
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
