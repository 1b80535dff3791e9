/** The request as OpenSSL reads it, byte by byte where that counts. */

import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { DIGEST_ALGORITHMS, NODE_DIGEST_NAME } from '../../../src/crypto/algorithms.ts';
import { buildTimestampRequest, isSameInteger, nonceOf } from '../../../src/timestamp/request.ts';
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
    const args = ['ts', '-query', '-digest', 'ab'.repeat(32), '-sha256', '-cert', '-no_nonce'];
    const theirs = openssl(args);
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
    ['0000000000000000', '00'],
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
