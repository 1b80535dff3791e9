import { expect, it } from 'vitest';
import { manifestLine } from '../../../../../src/formats/jar/manifest/complete.ts';
import { readManifest } from '../../../../../src/formats/jar/manifest/manifest.ts';
import { type ManifestReading, readByJava, readByUs } from '../interop/read-by-java.ts';

const VERSION = 'Manifest-Version: 1.0\r\n';
const DIGEST = 'SHA-256-Digest: abc=\r\n';
/** `length` bytes, its line end not counted. */
const lineOf = (length: number) => 'X: '.padEnd(length, 'y');

/** Each is read as Java reads it. */
const ACCEPTED: Readonly<Record<string, string | Buffer>> = {
  nothing: '',
  'only empty lines, of all kinds': '\r\n\n\r\r\r\n',
  'main attributes alone': `${VERSION}\r\n`,
  'no empty line at the end': VERSION,
  'names in any case': 'MANIFEST-version: 1.0\n\n',
  'an empty value': 'X: \n\n',
  'a value of spaces, with a colon': 'X:   : \n\n',
  'digits, hyphens and underscores in a name': '-0_a: 1\n\n',
  'a name of 70 characters': `${'a'.repeat(70)}: 1\n\n`,
  'a duplicate, of which the last one counts': 'X: 1\nx: 2\n\n',
  'NUL and other control characters in a value': 'X: a\0\x01\tb\n\n',
  'a section': `${VERSION}\r\nName: a\r\n${DIGEST}\r\n`,
  'no main attributes': `\r\nName: a\r\n${DIGEST}\r\n`,
  'Name among the main attributes': 'Name: a\n\nName: b\n\n',
  CR: `${VERSION}\r\nName: a\r\n${DIGEST}\r\n`.replaceAll('\r\n', '\r'),
  LF: `${VERSION}\r\nName: a\r\n${DIGEST}\r\n`.replaceAll('\r\n', '\n'),
  'CR, LF and CRLF mixed': 'X: 1\rY: 2\nZ: 3\r\n\rName: a\n\nName: b\r\n\r\n',
  'LF CR, which is an empty line': 'X: 1\n\rName: a\n\n',
  'extra empty lines': `${VERSION}\n\n\nName: a\n${DIGEST}\r\n\r\r\nName: b\n\n\n\n`,
  'empty lines before the main attributes, which make them sections': '\n\nName: a\n\n',
  'name in lower case': 'X: 1\n\nname: a\n\nnAmE: b\n\n',
  'an empty name': 'X: 1\n\nName: \n\n',
  'a second Name in a section, which is an attribute': 'X: 1\n\nName: a\nName: b\n\n',
  'continued values': 'X: a\n b\r\n c\r  d\n\n',
  'a continuation of nothing': 'X: a\n \n b\n\n',
  'a value that begins in its continuation': 'X: \n a\n\n',
  'a continuation that looks like a header': 'X: a\n Y: b\n\n',
  'a continued name': 'X: 1\n\nName: a\n b\n  c\nY: 1\n\n',
  'a continuation inside a character': Buffer.from('X: \xc3\n \xa4\n\nName: \xe8\n \xaa\r\n \x9e\n\n', 'latin1'),
  'a continued digest': 'X: 1\n\nName: a\nSHA-256-Digest: ab\n c=\n\n',
  'digests, known or not':
    'X: 1\n\nName: a\nSHA1-Digest: 1\nmd5-digest: 2\nFoo-DIGEST: 3\nX-Digest-de: 4\n-Digest: 5\n\n',
  'duplicate digests': 'X: 1\n\nName: a\nSHA-256-Digest: 1\nsha-256-digest: 2\n\n',
  'duplicate sections': 'X: 1\n\nName: a\nSHA1-Digest: 1\n\nName: b\n\nName: a\nSHA-256-Digest: 2\n\n',
  'a line of 512 bytes with CR LF': `${lineOf(510)}\r\n\r\n`,
  'lines of 511 bytes': `${lineOf(511)}\n\n`,
  'a continuation of 511 bytes': `X: 1\n ${'y'.repeat(510)}\n\n`,
  'a section name in a line of 512 bytes': `X: 1\n\n${'Name: '.padEnd(510, 'y')}\r\n\r\n`,
};

/** What it is → its text, and the line that is named. */
const REFUSED: Readonly<Record<string, readonly [text: string | Buffer, line: number]>> = {
  'a line without a colon': ['X: 1\nY\n\n', 2],
  'a colon without a space': ['X:1\n\n', 1],
  'a line without a name': [': 1\n\n', 1],
  'a space in a name': ['X Y: 1\n\n', 1],
  'a letter with an accent in a name': ['Ä: 1\n\n', 1],
  'a name of 71 characters': [`${'a'.repeat(71)}: 1\n\n`, 1],
  'a byte order mark': ['\uFEFFX: 1\n\n', 1],
  'a continuation at the beginning': [' X: 1\n\n', 1],
  'a continuation after an empty line': ['X: 1\n\n Y: 1\n\n', 3],
  'a section that begins with another attribute': ['X: 1\n\nY: 1\nName: a\n\n', 3],
  'a section that begins with Name-of': ['X: 1\n\nName-of: a\n\n', 3],
  'a section that begins with Name:': ['X: 1\n\nName:a\n\n', 3],
  'a bad line in a section': ['X: 1\n\nName: a\nnonsense\n\n', 4],
  'a line of 514 bytes with CR LF': [`${lineOf(512)}\r\n\r\n`, 1],
  'a line of 513 bytes with CR LF': [`${lineOf(511)}\r\nY: 1\r\n\r\n`, 1],
  'a line of 513 bytes with LF': [`X: 1\n\nName: a\n${lineOf(512)}\n\n`, 4],
  'a continuation of 513 bytes': [`X: 1\n ${'y'.repeat(511)}\n\n`, 2],
};

type Read = 'refused' | { readonly main: Readonly<Record<string, string>>; readonly sections?: readonly string[] };

/** Java drops a last line that has no end, whatever it is; here it counts. */
const UNTERMINATED: readonly (readonly [text: string, read: Read, byJava: Read])[] = [
  ['X: 1\nY: 2', { main: { x: '1', y: '2' } }, { main: { x: '1' } }],
  ['X: 1\n 2', { main: { x: '12' } }, { main: {} }],
  ['X: 1\n\nName: a', { main: { x: '1' }, sections: ['a'] }, { main: { x: '1' } }],
  ['X: 1\nY', 'refused', { main: { x: '1' } }],
  // Java takes the CR LF at the end of a line of 513 bytes for two ends.
  [`${lineOf(511)}\r\nName: a\r\n\r\n`, 'refused', { main: { x: 'y'.repeat(508) }, sections: ['a'] }],
];

const summary = (reading: ManifestReading): Read =>
  reading === 'refused'
    ? reading
    : {
        main: Object.fromEntries(reading.main),
        ...(reading.sections.length > 0 && { sections: reading.sections.map(([name]) => name) }),
      };

it.each(Object.entries(REFUSED))('a manifest is rejected with %s', (_, [text, line]) => {
  const message = expect.stringContaining(`MANIFEST.MF, line ${line}: `);
  expect(() => readManifest(Buffer.from(text))).toThrow(
    expect.objectContaining({ code: 'manifest-invalid', category: 'local', message }),
  );
});

/** The characters take 1, 2, 3 and 4 bytes of UTF-8; some could be taken for something else. */
const CHARACTERS = ['a', 'Z', '/', ' ', ':', '\0', '\t', 'ä', '\u0301', '語', '\uFEFF', '\uFFFD', '😀', '\u{10FFFF}'];
/** Lengths about the one where a line is full, in characters of each width, up to three bytes more to the left. */
const NAMES: readonly string[] = [
  ...['', ' '],
  ...Array.from({ length: 20 }, (_, index) => 'x'.repeat(index + 55)),
  ...['ä', '語', '😀'].flatMap((wide) => [0, 1, 2, 3].map((index) => 'x'.repeat(index) + wide.repeat(80))),
  ...CHARACTERS.map((character) => character.repeat(300)),
];
const WRITTEN = NAMES.map((name) => {
  const lines = ['Name', 'SHA-256-Digest'].map((attribute) => manifestLine(attribute, name, '\r\n'));
  return Buffer.from(`X: 1\r\n\r\n${lines.join('')}\r\n`);
});

it('a written line has at most 70 bytes, only whole characters, and no room for the next character', () => {
  for (const name of NAMES) {
    const lines = manifestLine('Name', name, '\r\n').split('\r\n').slice(0, -1);
    for (const [index, line] of lines.entries()) {
      const [, next = 'x'.repeat(71)] = lines[index + 1] ?? '';
      expect(Buffer.byteLength(line)).toBeLessThanOrEqual(70);
      expect(Buffer.byteLength(line + next)).toBeGreaterThan(70);
    }
  }
});

it('Java agrees on written lines and the whole table, and differs in lines of 513 bytes and in a last line without an end', async () => {
  const refused = Object.entries(REFUSED).map(([what, [text]]) => [what, text] as const);
  const table = [...Object.entries(ACCEPTED), ...refused];
  const texts = [...table.map(([, text]) => text), ...UNTERMINATED.map(([text]) => text)].map((text) =>
    Buffer.from(text),
  );
  const all = await readByJava([...texts, ...WRITTEN]);
  const [ours, theirs] = [texts.map(readByUs), all.slice(0, texts.length)];
  const written = NAMES.map((name) => ({ main: [['x', '1']], sections: [[name, [['sha-256-digest', name]]]] }));
  expect(all.slice(texts.length)).toEqual(written);
  expect(WRITTEN.map(readByUs)).toEqual(written);
  const named = (readings: readonly ManifestReading[]) => table.map(([what], index) => [what, readings[index]]);
  expect(named(ours)).toEqual(named(theirs));
  expect(ours.slice(0, Object.keys(ACCEPTED).length)).not.toContain('refused');
  const rest = (readings: readonly ManifestReading[]) => readings.slice(table.length).map(summary);
  expect([rest(ours), rest(theirs)]).toEqual([
    UNTERMINATED.map(([, read]) => read),
    UNTERMINATED.map(([, , byJava]) => byJava),
  ]);
});
