import { describe, expect, it } from 'vitest';
import { manifestLine } from '../../../../../src/formats/jar/manifest/complete.ts';
import { readByJava, readByUs } from '../interop/read-by-java.ts';

/** Of 1, 2, 3 and 4 bytes of UTF-8, and some that a reader might take for something else. */
const CHARACTERS = ['a', 'Z', '/', ' ', ':', '\0', '\t', 'ä', '\u0301', '語', '\uFEFF', '\uFFFD', '😀', '\u{10FFFF}'];

const NAMES: readonly string[] = [
  '',
  ' ',
  // Each length about the one where a line is full, in characters of each width, one byte more to the left each time.
  ...Array.from({ length: 80 }, (_, index) => 'x'.repeat(index + 1)),
  ...['ä', '語', '😀'].flatMap((wide) => Array.from({ length: 72 }, (_, index) => 'x'.repeat(index) + wide.repeat(80))),
  ...CHARACTERS.map((character) => character.repeat(300)),
];

describe('a line', () => {
  it('has at most 70 bytes without its end, only whole characters, and no room for the next character', () => {
    for (const name of NAMES) {
      const lines = manifestLine('Name', name, '\r\n').split('\r\n').slice(0, -1);
      for (const [index, line] of lines.entries()) {
        const [, next = 'x'.repeat(71)] = lines[index + 1] ?? '';
        expect(Buffer.byteLength(line)).toBeLessThanOrEqual(70);
        expect(Buffer.byteLength(line + next)).toBeGreaterThan(70);
      }
    }
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
