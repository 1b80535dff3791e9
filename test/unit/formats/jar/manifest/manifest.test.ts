/** Holds what is read in manifests: by a table, and all of the table, and chance, against Java's own reader. */

import { describe, expect, it } from 'vitest';
import { readManifest } from '../../../../../src/formats/jar/manifest/manifest.ts';
import { randomNumbers } from '../interop/random.ts';
import { type ManifestReading, readByJava, readByUs } from '../interop/read-by-java.ts';

const VERSION = 'Manifest-Version: 1.0\r\n';
const DIGEST = 'SHA-256-Digest: abc=\r\n';
/** `length` bytes, its line end not counted. */
const lineOf = (length: number) => 'X: '.padEnd(length, 'y');

interface Accepted {
  readonly main?: Readonly<Record<string, string>>;
  /** Section → its digests, as `algorithm value`. */
  readonly sections?: Readonly<Record<string, readonly string[]>>;
}

/** What it is → its text, and what is read. */
const ACCEPTED: Readonly<Record<string, readonly [text: string | Buffer, read: Accepted]>> = {
  nothing: ['', {}],
  'an empty line': ['\r\n', {}],
  'only empty lines, of all kinds': ['\r\n\n\r\r\r\n', {}],
  'main attributes alone': [`${VERSION}\r\n`, { main: { 'manifest-version': '1.0' } }],
  'no empty line at the end': [VERSION, { main: { 'manifest-version': '1.0' } }],
  'names in any case': ['MANIFEST-version: 1.0\n\n', { main: { 'manifest-version': '1.0' } }],
  'an empty value': ['X: \n\n', { main: { x: '' } }],
  'a value of spaces, with a colon': ['X:   : \n\n', { main: { x: '  : ' } }],
  'digits, hyphens and underscores in a name': ['-0_a: 1\n\n', { main: { '-0_a': '1' } }],
  'a name of 70 characters': [`${'a'.repeat(70)}: 1\n\n`, { main: { ['a'.repeat(70)]: '1' } }],
  'a duplicate, of which the last one counts': ['X: 1\nx: 2\n\n', { main: { x: '2' } }],
  'NUL and other control characters in a value': ['X: a\0\x01\tb\n\n', { main: { x: 'a\0\x01\tb' } }],
  'a section': [`${VERSION}\r\nName: a\r\n${DIGEST}\r\n`, { sections: { a: ['SHA-256 abc='] } }],
  'no main attributes': [`\r\nName: a\r\n${DIGEST}\r\n`, { main: {}, sections: { a: ['SHA-256 abc='] } }],
  'Name among the main attributes': ['Name: a\n\nName: b\n\n', { main: { name: 'a' }, sections: { b: [] } }],
  CR: [`${VERSION}\r\nName: a\r\n${DIGEST}\r\n`.replaceAll('\r\n', '\r'), { sections: { a: ['SHA-256 abc='] } }],
  LF: [`${VERSION}\r\nName: a\r\n${DIGEST}\r\n`.replaceAll('\r\n', '\n'), { sections: { a: ['SHA-256 abc='] } }],
  'CR, LF and CRLF mixed': [
    'X: 1\rY: 2\nZ: 3\r\n\rName: a\n\nName: b\r\n\r\n',
    { main: { x: '1', y: '2', z: '3' }, sections: { a: [], b: [] } },
  ],
  'LF CR, which is an empty line': ['X: 1\n\rName: a\n\n', { main: { x: '1' }, sections: { a: [] } }],
  'extra empty lines': [
    `${VERSION}\n\n\nName: a\n${DIGEST}\r\n\r\r\nName: b\n\n\n\n`,
    { sections: { a: ['SHA-256 abc='], b: [] } },
  ],
  'empty lines before the main attributes, which make them sections': ['\n\nName: a\n\n', { sections: { a: [] } }],
  'name in lower case': ['X: 1\n\nname: a\n\nnAmE: b\n\n', { sections: { a: [], b: [] } }],
  'an empty name': ['X: 1\n\nName: \n\n', { sections: { '': [] } }],
  'a second Name in a section, which is an attribute': ['X: 1\n\nName: a\nName: b\n\n', { sections: { a: [] } }],
  'continued values': ['X: a\n b\r\n c\r  d\n\n', { main: { x: 'abc d' } }],
  'a continuation of nothing': ['X: a\n \n b\n\n', { main: { x: 'ab' } }],
  'a value that begins in its continuation': ['X: \n a\n\n', { main: { x: 'a' } }],
  'a continuation that looks like a header': ['X: a\n Y: b\n\n', { main: { x: 'aY: b' } }],
  'a continued name': ['X: 1\n\nName: a\n b\n  c\nY: 1\n\n', { sections: { 'ab c': [] } }],
  'a continuation inside a character': [
    Buffer.concat([Buffer.from('X: \xc3\n \xa4\n\nName: \xe8\n \xaa\r\n \x9e\n\n', 'latin1')]),
    { main: { x: 'ä' }, sections: { 語: [] } },
  ],
  'a continued digest': ['X: 1\n\nName: a\nSHA-256-Digest: ab\n c=\n\n', { sections: { a: ['SHA-256 abc='] } }],
  'digests of several algorithms, known or not': [
    'X: 1\n\nName: a\nSHA1-Digest: 1\nmd5-digest: 2\nFoo-DIGEST: 3\nSHA-256-Digest-de: 4\n-Digest: 5\n\n',
    { sections: { a: ['SHA1 1', 'md5 2', 'Foo 3'] } },
  ],
  'duplicate digests': [
    'X: 1\n\nName: a\nSHA-256-Digest: 1\nsha-256-digest: 2\n\n',
    { sections: { a: ['SHA-256 1', 'sha-256 2'] } },
  ],
  'duplicate sections': [
    'X: 1\n\nName: a\nSHA1-Digest: 1\n\nName: b\n\nName: a\nSHA-256-Digest: 2\n\n',
    { sections: { a: ['SHA1 1', 'SHA-256 2'], b: [] } },
  ],
  'a line of 512 bytes with CR LF': [`${lineOf(510)}\r\n\r\n`, { main: { x: 'y'.repeat(507) } }],
  'a section name in a line of 512 bytes': [
    `X: 1\n\n${'Name: '.padEnd(510, 'y')}\r\n\r\n`,
    { sections: { ['y'.repeat(504)]: [] } },
  ],
};

/** What it is → its text, and the line that is named. */
const REFUSED: Readonly<Record<string, readonly [text: string | Buffer, line: number]>> = {
  'a line without a colon': ['X: 1\nY\n\n', 2],
  'a colon without a space': ['X:1\n\n', 1],
  'a colon at the end': ['X:\n\n', 1],
  'a colon with a tab': ['X:\t1\n\n', 1],
  'a line without a name': [': 1\n\n', 1],
  'a space in a name': ['X Y: 1\n\n', 1],
  'a dot in a name': ['X.Y: 1\n\n', 1],
  'NUL in a name': ['X\0: 1\n\n', 1],
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

/** Java drops a last line that has no end, whatever it is; here it counts. */
const UNTERMINATED: Readonly<Record<string, readonly [text: string, read: Accepted | 'refused', byJava: Accepted]>> = {
  'an attribute': ['X: 1\nY: 2', { main: { x: '1', y: '2' } }, { main: { x: '1' } }],
  'a continuation': ['X: 1\n 2', { main: { x: '12' } }, { main: {} }],
  'a digest': [
    'X: 1\n\nName: a\nSHA-256-Digest: 1',
    { main: { x: '1' }, sections: { a: ['SHA-256 1'] } },
    { main: { x: '1' }, sections: { a: [] } },
  ],
  'a name': ['X: 1\n\nName: a', { main: { x: '1' }, sections: { a: [] } }, { main: { x: '1' } }],
  nonsense: ['X: 1\nY', 'refused', { main: { x: '1' } }],
};

function expectRead(reading: ManifestReading, { main, sections }: Accepted): void {
  if (reading === 'refused') throw new Error('it was refused');
  if (main !== undefined) expect(Object.fromEntries(reading.main)).toEqual(main);
  expect(reading.sections.map(([name]) => name).sort()).toEqual(Object.keys(sections ?? {}).sort());
}

describe('a manifest is read', () => {
  it.each(Object.entries(ACCEPTED))('with %s', (_, [text, read]) => {
    expectRead(readByUs(Buffer.from(text)), read);
    const manifest = readManifest(Buffer.from(text));
    for (const { name, digests } of manifest.sections()) {
      const said = digests.map((digest) => `${digest.algorithm} ${manifest.valueOf(digest)}`);
      expect(read.sections?.[name]).toEqual(expect.arrayContaining(said));
    }
  });

  it.each(Object.entries(UNTERMINATED))('with a last line that is not ended: %s', (_, [text, read]) => {
    if (read === 'refused') expect(readByUs(Buffer.from(text))).toBe('refused');
    else expectRead(readByUs(Buffer.from(text)), read);
  });
});

it.each(Object.entries(REFUSED))('a manifest is rejected with %s', (_, [text, line]) => {
  const message = expect.stringContaining(`MANIFEST.MF, line ${line}: `);
  expect(() => readManifest(Buffer.from(text))).toThrow(
    expect.objectContaining({ code: 'manifest-invalid', category: 'local', message }),
  );
});

describe('Java', () => {
  it('agrees on the whole table', async () => {
    const table = { ...ACCEPTED, ...REFUSED };
    const texts = Object.values(table).map(([text]) => Buffer.from(text));
    const theirs = await readByJava(texts);
    const named = (readings: readonly ManifestReading[]) =>
      Object.fromEntries(Object.keys(table).map((what, index) => [what, readings[index]]));
    expect(named(texts.map(readByUs))).toEqual(named(theirs));
  });

  it('reads lines of 511 bytes as this program does, and differs in lines of 513 bytes and in a last line without an end', async () => {
    const longest = [`${lineOf(511)}\n\n`, `${lineOf(511)}\r\r`, `X: 1\n ${'y'.repeat(510)}\n\n`];
    // Java takes the CR LF at the end of this line for two ends.
    const tooLong = `${lineOf(511)}\r\nName: a\r\n\r\n`;
    const texts = [...longest, tooLong, ...Object.values(UNTERMINATED).map(([text]) => text)];
    const manifests = texts.map((text) => Buffer.from(text));
    const theirs = await readByJava(manifests);
    const ours = manifests.map(readByUs);
    expect(ours.slice(0, 3)).toEqual(theirs.slice(0, 3));
    expect([ours[3], theirs[3]]).toMatchObject(['refused', { sections: [['a', []]] }]);
    for (const [index, [, , byJava]] of Object.values(UNTERMINATED).entries()) {
      expectRead(theirs[index + 4] ?? 'refused', byJava);
    }
  });

  it('agrees on random manifests', async () => {
    const texts = randomManifests(1000);
    const theirs = await readByJava(texts);
    const ours = texts.map(readByUs);
    const differing = texts.flatMap((text, index) => {
      const [us, java] = [JSON.stringify(ours[index]), JSON.stringify(theirs[index])];
      return us === java ? [] : [{ text: text.toString('latin1'), us, java }];
    });
    expect(differing.slice(0, 5)).toEqual([]);
    // Chance that only makes nonsense, or nothing but sense, would prove little.
    const accepted = ours.filter((reading) => reading !== 'refused');
    expect(accepted.length).toBeGreaterThan(200);
    expect(ours.length - accepted.length).toBeGreaterThan(200);
    expect(accepted.filter(({ sections }) => sections.length > 1).length).toBeGreaterThan(50);
  });
});

/** Always with an end to the last line, and with whole characters. */
function randomManifests(count: number): readonly Buffer[] {
  const random = randomNumbers(20240229);
  const pick = (from: readonly string[]) => from[random(from.length)] ?? '';
  const lines = [
    'Name: a',
    'Name: b/ä',
    'name: a',
    'SHA-256-Digest: x=',
    'sha1-Digest: y',
    'X: 1',
    'X: 語',
    'L-N: ',
    '',
  ];
  const odd = [
    ' more',
    ' ',
    'Name:',
    'Name',
    'X:1',
    'x y: 1',
    'N\0: 1',
    'Y: \0',
    '\tX: 1',
    ': ',
    'Name : a',
    ' :',
    'Name: ',
  ];
  const line = () => {
    const isOdd = random(16) === 0;
    const isNewSection = random(3) === 0;
    const end = pick(['\r\n', '\r\n', '\n', '\r']);
    const text = isNewSection ? `${end}${pick(['Name: a', 'NAME: c', 'Name: '])}` : pick(isOdd ? odd : lines);
    const more = random(8) === 0 ? ` ${pick(['more', 'ö', ' ', '', 'Name: x'])}${end}` : '';
    return `${text}${end}${more}`;
  };
  return Array.from({ length: count }, () => Buffer.from(Array.from({ length: random(12) }, line).join('')));
}
