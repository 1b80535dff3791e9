/** Holds the lines that are written: short enough, whole characters, and read back as what they were, by Java too. */

import { describe, expect, it } from 'vitest';
import { manifestLine } from '../../../../../src/formats/jar/manifest/complete.ts';
import { randomNumbers } from '../interop/random.ts';
import { readByJava, readByUs } from '../interop/read-by-java.ts';

const random = randomNumbers(7);
/** Of 1, 2, 3 and 4 bytes of UTF-8, and some that a reader might take for something else. */
const CHARACTERS = ['a', 'Z', '/', ' ', ':', '\0', '\t', 'ä', '\u0301', '語', '\uFEFF', '\uFFFD', '😀', '\u{10FFFF}'];

const randomName = (length: number) =>
  Array.from({ length }, () => CHARACTERS[random(CHARACTERS.length)] ?? '').join('');

const NAMES: readonly string[] = [
  '',
  ' ',
  // Each length about the one where a line is full, in characters of each width, one byte more to the left each time.
  ...Array.from({ length: 80 }, (_, index) => 'x'.repeat(index + 1)),
  ...['ä', '語', '😀'].flatMap((wide) => Array.from({ length: 72 }, (_, index) => 'x'.repeat(index) + wide.repeat(80))),
  ...Array.from({ length: 100 }, () => randomName(random(400))),
  'x'.repeat(6000),
  'ä'.repeat(3000),
  '語'.repeat(2000),
  '😀'.repeat(1500),
];

/** As bytes, without their ends. */
function linesOf(text: string, newline: string): readonly Buffer[] {
  const lines = Buffer.from(text).toString('latin1').split(newline);
  expect(lines.pop()).toBe('');
  return lines.map((line) => Buffer.from(line, 'latin1'));
}

describe('a line', () => {
  it.each(['\r\n', '\n', '\r'])('has 72 bytes at most with its end, and only whole characters: %j', (newline) => {
    for (const name of NAMES) {
      for (const line of linesOf(manifestLine('Name', name, newline), newline)) {
        expect(line.length + newline.length).toBeLessThanOrEqual(72);
        expect(Buffer.from(line.toString()).equals(line)).toBe(true);
      }
    }
  });

  it('is broken only where it must be: each line but the last has no room for the next character', () => {
    for (const name of NAMES) {
      const lines = linesOf(manifestLine('Name', name, '\r\n'), '\r\n');
      for (const [index, line] of lines.slice(0, -1).entries()) {
        const [next = ''] = lines[index + 1]?.toString().slice(1) ?? '';
        expect(line.length + Buffer.byteLength(next)).toBeGreaterThan(70);
      }
    }
  });

  it('is written unchanged if it fits', () => {
    expect(manifestLine('Name', 'a/B.class', '\n')).toBe('Name: a/B.class\n');
    expect(manifestLine('Name', 'x'.repeat(64), '\n')).toBe(`Name: ${'x'.repeat(64)}\n`);
    expect(manifestLine('Name', 'x'.repeat(65), '\n')).toBe(`Name: ${'x'.repeat(64)}\n x\n`);
  });

  it('is read back unchanged, by this program and by Java', async () => {
    const manifests = NAMES.map((name) =>
      Buffer.from(
        `X: 1\r\n\r\n${manifestLine('Name', name, '\r\n')}${manifestLine('SHA-256-Digest', name, '\r\n')}\r\n`,
      ),
    );
    const expected = NAMES.map((name) => ({ main: [['x', '1']], sections: [[name, [['sha-256-digest', name]]]] }));
    expect(manifests.map(readByUs)).toEqual(expected);
    expect(await readByJava(manifests)).toEqual(expected);
  });
});
