/** Holds how values of attributes are put in words: by their ASN.1 alone, bounded, and never failing. */

import { describe, expect, it } from 'vitest';
import { readElement } from '../../../src/asn1/read.ts';
import { sequence, smallInteger } from '../../../src/asn1/write.ts';
import { describeValue, inspectAttributes } from '../../../src/verifying/inspect-attributes.ts';

const element = (hex: string) => readElement(Buffer.from(hex.replace(/\s/g, ''), 'hex'), 'value');
const words = (hex: string) => describeValue(element(hex));

/** Pairs in pairs in pairs, in hexadecimal. */
function nested(depth: number): string {
  let value: Uint8Array = smallInteger(1);
  for (let level = 0; level < depth; level += 1) value = sequence(smallInteger(2), value);
  return Buffer.from(value).toString('hex');
}

describe('a value in words', () => {
  it.each([
    ['0609 608648016503040201', 'SHA-256'],
    ['300d 0609 608648016503040201 0500', 'SHA-256'],
    ['0404 00ff10ab', '00ff10ab'],
    ['0202 0100', '256'],
    ['0201 ff', '-1'],
    ['0209 00ffffffffffffffff', '00ffffffffffffffff'],
    ['0101 ff', 'yes'],
    ['0101 00', 'no'],
    ['1303 616263', 'abc'],
    ['1e04 00c5006e', 'Ån'],
    ['170d 3439313233313233353935395a', '2049-12-31T23:59:59Z'],
    ['170d 3530303130313030303030305a', '1950-01-01T00:00:00Z'],
    ['170b 323631313230323031305a', '2026-11-20T20:10:00Z'],
    ['180f 32303236313132303230313034385a', '2026-11-20T20:10:48Z'],
    ['1705 6e6f70655a', 'nopeZ'],
    ['3006 020101 020102', '1, 2'],
    ['3008 3006 020101 020102', '(1, 2)'],
    ['300b 3006 020101 020102 020103', '(1, 2), 3'],
    ['8002 6162', '6162'],
    ['3000', ''],
  ])('%s is %s', (hex, expected) => {
    expect(words(hex)).toBe(expected);
  });

  it('does not follow what is nested without end', () => {
    expect(words(nested(3))).toBe('2, (2, (2, 1))');
    expect(words(nested(30))?.split('(')).toHaveLength(12);
  });

  it('is none when the encoding is damaged or long', () => {
    expect(words('3003 020501')).toBeUndefined();
    expect(words(`0482 0500 ${'00'.repeat(0x500)}`)).toBeUndefined();
  });
});

describe('an attribute', () => {
  const V2 = '1.2.840.113549.1.9.16.2.47';
  const inspected = (type: string, hex: string) => inspectAttributes([{ type, values: [element(hex)] }])[0]?.values[0];

  it.each([
    ['program name and page', '1.3.6.1.4.1.311.2.1.12', '300c a006 8004 00410042 a102 8000', '"AB", '],
    ['a program name in ASCII', '1.3.6.1.4.1.311.2.1.12', '3006 a004 8102 4142', 'AB'],
    ['neither', '1.3.6.1.4.1.311.2.1.12', '3000', 'neither name nor web page'],
    ['SHA-1 of the signing certificate', '1.2.840.113549.1.9.16.2.12', '3008 3006 3004 0402 abcd', 'SHA-1 abcd'],
    ['SHA-256 of it', V2, '3008 3006 3004 0402 abcd', 'SHA-256 abcd'],
    ['SHA-512 of it', V2, '3015 3013 3011 300b 0609 608648016503040203 0402 abcd', 'SHA-512 abcd'],
  ])('says %s', (_what, type, hex, expected) => {
    expect(inspected(type, hex)?.text).toBe(expected);
  });

  it('is not put in words when it is damaged, but its bytes are there', () => {
    const value = inspected('1.3.6.1.4.1.311.2.1.12', '3004 a002 8005');
    expect(value).toMatchObject({ text: undefined, length: 6 });
    expect(Buffer.from(value?.bytes ?? []).toString('hex')).toBe('3004a0028005');
  });

  it('is neither in words nor bytes when it is a timestamp token or a signature, or long', () => {
    expect(inspected('1.2.840.113549.1.9.16.2.14', '3000')?.text).toBeUndefined();
    expect(inspected('1.3.6.1.4.1.311.2.4.1', '3000')?.text).toBeUndefined();
    const long = inspected('1.2.3.4', `0482 0500 ${'00'.repeat(0x500)}`);
    expect(long).toEqual({ text: undefined, length: 0x504, bytes: undefined });
  });
});
