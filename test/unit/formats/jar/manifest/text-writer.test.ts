/** Holds the buffer that manifests are written into: it grows, and loses nothing. */

import { describe, expect, it } from 'vitest';
import { textWriter } from '../../../../../src/formats/jar/manifest/text-writer.ts';
import { randomNumbers } from '../interop/random.ts';

describe('a text writer', () => {
  it.each([0, 1, 10, 100_000])('gives what was added, as UTF-8, whatever its capacity: %i', (capacity) => {
    const random = randomNumbers(capacity);
    const writer = textWriter(capacity, [Buffer.from('start, '), Buffer.alloc(0), Buffer.from('ä')]);
    let expected = 'start, ä';
    for (let index = 0; index < 500; index++) {
      const text = ['', 'a', 'ä', '語', '😀', 'x'.repeat(random(300)), '語'.repeat(random(300))][random(7)] ?? '';
      writer.add(text);
      expected += text;
      if (index % 100 === 0) expect(writer.bytes().toString()).toBe(expected);
    }
    expect(writer.bytes().equals(Buffer.from(expected))).toBe(true);
  });

  it('gives nothing when nothing was added', () => {
    expect(textWriter(0).bytes()).toHaveLength(0);
  });

  it('leaves what it begins with as it is', () => {
    const start = Buffer.from('start');
    const writer = textWriter(0, [start]);
    writer.bytes()[0] = 0;
    writer.add('more');
    expect(start.toString()).toBe('start');
  });
});
