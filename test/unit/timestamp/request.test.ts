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

const textOf = (query: Uint8Array): string => openssl(['ts', '-query', '-in', 'query', '-text'], { query }).toString();

describe('the request', () => {
  it.each(DIGEST_ALGORITHMS)('is one of version 1 over a %s digest, with nonce and certificate', (algorithm) => {
    const digest = createHash(NODE_DIGEST_NAME[algorithm]).update('signature').digest();
    const nonce = nonceOf(Buffer.from('7f00000000000001', 'hex'));
    const text = textOf(buildTimestampRequest({ algorithm, digest, policy: undefined, nonce }));
    expect(text).toContain('Version: 1\n');
    expect(text).toContain(`Hash Algorithm: ${algorithm.toLowerCase()}\n`);
    expect(hexDumpIn(text)).toBe(digest.toString('hex'));
    expect(text).toContain('Policy OID: unspecified\n');
    expect(text).toContain('Nonce: 0x7F00000000000001\n');
    expect(text).toContain('Certificate required: yes\n');
  });

  it('names the policy that is wanted', () => {
    const policy = '1.3.6.1.4.1.99999.4294967295';
    const query = { algorithm: 'SHA256', digest: new Uint8Array(32), nonce: Uint8Array.of(1) } as const;
    expect(textOf(buildTimestampRequest({ ...query, policy }))).toContain(`Policy OID: ${policy}\n`);
  });

  it('is what OpenSSL makes of the same, byte for byte', () => {
    const theirs = openssl(['ts', '-query', '-digest', 'ab'.repeat(32), '-sha256', '-cert', '-no_nonce']);
    const digest = Buffer.alloc(32, 0xab);
    const ours = Buffer.from(buildTimestampRequest({ algorithm: 'SHA256', digest, nonce: Uint8Array.of(5) }));
    const nonce = Buffer.from('020105', 'hex');
    const start = ours.indexOf(Buffer.concat([nonce, Buffer.from('0101ff', 'hex')]));
    const without = Buffer.concat([ours.subarray(2, start), ours.subarray(start + nonce.length)]);
    expect(without.toString('hex')).toBe(theirs.subarray(2).toString('hex'));
  });
});

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

/** The octets of OpenSSL's dump of the message data. */
function hexDumpIn(text: string): string {
  const lines = [...text.matchAll(/^ {4}[0-9a-f]{4} - ((?:[0-9a-f]{2}[ -]){1,16})/gm)];
  return lines.map(([, octets = '']) => octets.replace(/[ -]/g, '')).join('');
}

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
    [[number(6)], 'an unknown status'],
    [[number(0, 0)], 'an unknown status'],
    [[number(2), encode(0x30, text('no'), text('never'))], 'rejection (no never)'],
    [[number(2), encode(0x03, Uint8Array.of(7, 0x80))], 'rejection (unknown or unsupported algorithm)'],
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
