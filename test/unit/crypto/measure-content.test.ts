import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { memorySource } from '../../../src/bytes/memory-source.ts';
import { measureContent, startMeasuring } from '../../../src/crypto/measure-content.ts';
import { addSum16 } from '../../../src/crypto/sum16.ts';

/** The definition, word by word. */
function referenceSum16(bytes: Uint8Array, offset: number): number {
  let sum = 0;
  for (let index = 0; index < bytes.length; index++) {
    sum += (bytes[index] ?? 0) << ((offset + index) % 2 === 0 ? 0 : 8);
    sum = (sum & 0xffff) + (sum >>> 16);
  }
  return sum;
}

function pattern(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => (index * 167 + (index >>> 5) * 31) & 0xff);
}

describe('addSum16', () => {
  it('agrees with the definition for every alignment of memory and file offset', () => {
    const memory = pattern(300);
    for (let start = 0; start < 8; start++) {
      for (const length of [0, 1, 2, 3, 4, 5, 7, 8, 63, 64, 65, 255]) {
        for (const offset of [0, 1, 2, 3, 4096, 4097]) {
          const part = memory.subarray(start, start + length);
          expect(addSum16(0, part, offset)).toBe(referenceSum16(part, offset));
        }
      }
    }
  });

  it('gives the same sum however the bytes are cut', () => {
    const bytes = pattern(1000);
    const whole = addSum16(0, bytes, 0);
    for (const cut of [1, 2, 3, 499, 500, 999]) {
      expect(addSum16(addSum16(0, bytes.subarray(0, cut), 0), bytes.subarray(cut), cut)).toBe(whole);
    }
  });

  it('folds a sum of all ones to 0xffff and not to zero', () => {
    expect(addSum16(0, new Uint8Array(64).fill(0xff), 0)).toBe(0xffff);
  });
});

describe('measureContent', () => {
  const bytes = pattern(5000);
  const ranges = [
    { start: 0, end: 100 },
    { start: 104, end: 3001 },
    { start: 3009, end: 5000 },
  ];

  it('digests the ranges and the padding, and nothing between them', async () => {
    const { digests, sum16 } = await measureContent(memorySource(bytes), { ranges, zeroPadding: 3 }, [
      'SHA256',
      'SHA1',
      'MD5',
    ]);
    for (const [algorithm, name] of [
      ['SHA256', 'sha256'],
      ['SHA1', 'sha1'],
      ['MD5', 'md5'],
    ] as const) {
      const expected = createHash(name);
      for (const { start, end } of ranges) expected.update(bytes.subarray(start, end));
      expect(Buffer.from(digests.get(algorithm) ?? []).toString('hex')).toBe(
        expected.update(Buffer.alloc(3)).digest('hex'),
      );
    }
    expect(sum16).toBeUndefined();
  });

  it('sums the ranges at their places in the file', async () => {
    const { sum16 } = await measureContent(memorySource(bytes), { ranges, zeroPadding: 0 }, ['SUM16']);
    const zeroed = Uint8Array.from(bytes);
    zeroed.fill(0, 100, 104).fill(0, 3001, 3009);
    expect(sum16).toBe(referenceSum16(zeroed, 0));
  });

  it('takes the bytes in any chunks', () => {
    const content = { ranges, zeroPadding: 0 };
    const whole = startMeasuring(content, ['SHA512', 'SUM16']);
    whole.update(bytes, 0);
    const pieces = startMeasuring(content, ['SHA512', 'SUM16']);
    for (let offset = 0; offset < bytes.length; offset += 77)
      pieces.update(bytes.subarray(offset, offset + 77), offset);
    expect(pieces.finish()).toEqual(whole.finish());
  });

  it('goes on with content that ends later, by some of the measures in any order, and by no other', async () => {
    const measuring = startMeasuring({ ranges: ranges.slice(0, 2), zeroPadding: 5 }, ['SHA256', 'SHA512', 'SUM16']);
    measuring.update(bytes.subarray(0, 2000), 0);
    const longer = {
      ranges: [
        { start: 0, end: 100 },
        { start: 104, end: 4500 },
      ],
      zeroPadding: 0,
    };
    for (const measures of [['SUM16', 'SHA512'], ['SHA256']] as const) {
      const next = measuring.continueWith(longer, measures);
      next?.update(bytes.subarray(2000), 2000);
      expect(next?.finish()).toEqual(await measureContent(memorySource(bytes), longer, measures));
    }
    expect(measuring.continueWith(longer, ['SHA256', 'SHA1'])).toBeUndefined();
    expect(measuring.continueWith({ ranges: [{ start: 1, end: 100 }], zeroPadding: 0 }, ['SHA256'])).toBeUndefined();
  });
});
