import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { memorySource } from '../../../src/bytes/byte-source.ts';
import { isBytes } from '../../../src/bytes/pieces.ts';
import { addSum16, type Content, measureContent, startMeasuring } from '../../../src/crypto/measure-content.ts';

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

it('sums words for every alignment of memory and file offset, and all ones not to zero', () => {
  const memory = pattern(300);
  for (let start = 0; start < 8; start++) {
    for (const length of [0, 1, 2, 3, 4, 5, 7, 8, 63, 64, 65, 255]) {
      for (const offset of [0, 1, 2, 3, 4096, 4097]) {
        const part = memory.subarray(start, start + length);
        expect(addSum16(0, part, offset)).toBe(referenceSum16(part, offset));
      }
    }
  }
  expect(addSum16(0, new Uint8Array(64).fill(0xff), 0)).toBe(0xffff);
});

describe('measureContent', () => {
  const bytes = pattern(5000);
  const ranges = [
    { start: 0, end: 100 },
    { start: 104, end: 3001 },
    { start: 3009, end: 5000 },
  ];
  const covered = (content: Content) =>
    Buffer.concat([...content].map((piece) => (isBytes(piece) ? piece : bytes.subarray(piece.start, piece.end))));

  it.each<[string, Content]>([
    ['literal bytes, and ranges in any order', [Buffer.from('first'), { start: 10, end: 20 }, { start: 3, end: 4 }]],
    [
      'ranges that overlap',
      [
        { start: 3000, end: 4000 },
        { start: 10, end: 3500 },
      ],
    ],
  ])('digests %s', async (_, content) => {
    const { digests, sum16 } = await measureContent(memorySource(bytes), content, ['SHA256', 'SHA1', 'MD5']);
    for (const [algorithm, digest] of digests) {
      expect(digest).toEqual(createHash(algorithm).update(covered(content)).digest());
    }
    expect([[...digests.keys()], sum16]).toEqual([['SHA256', 'SHA1', 'MD5'], undefined]);
  });

  it('takes the bytes in any chunks', () => {
    const content = [bytes.subarray(0, 3), ...ranges.slice(0, 2), bytes.subarray(9, 20), ...ranges.slice(2)];
    const measured = [5000, 77].map((length) => {
      const measuring = startMeasuring(content, ['SHA512', 'SUM16'], bytes.length);
      for (let at = 0; at < bytes.length; at += length) measuring?.update(bytes.subarray(at, at + length), at);
      return measuring?.finish() ?? expect.unreachable('not in file order');
    });
    expect(measured[1]).toEqual(measured[0]);
  });
});
