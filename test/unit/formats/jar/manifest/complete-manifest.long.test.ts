import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { memorySource } from '../../../../../src/bytes/byte-source.ts';
import { type DigestAlgorithm, NODE_DIGEST_NAME } from '../../../../../src/crypto/algorithms.ts';
import { digestListed, listEntries } from '../../../../../src/formats/jar/content.ts';
import { readLayout } from '../../../../../src/formats/jar/layout.ts';
import { completeManifest } from '../../../../../src/formats/jar/manifest/complete.ts';
import { terminated } from '../../../../../src/formats/jar/manifest/manifest.ts';
import { digestEntries } from '../../../../../src/zip/entry-digests.ts';
import { readByJava, readByUs } from '../interop/read-by-java.ts';
import { zip } from '../simple-zip.ts';

const CONTENTS = { a: 'contents of a', b: 'contents of b' };
type Name = keyof typeof CONTENTS;

const digestOf = (name: Name, algorithm = 'sha256') => createHash(algorithm).update(CONTENTS[name]).digest('base64');
const lineFor = (name: Name, javaName = 'SHA-256', algorithm = 'sha256') =>
  `${javaName}-Digest: ${digestOf(name, algorithm)}`;
const lines = (...all: readonly string[]) => [...all, ''].join('\r\n');

interface Options {
  readonly files?: readonly Name[];
  readonly algorithm?: DigestAlgorithm;
  readonly keepOthers?: boolean;
}

/** The manifest (undefined: none) of an archive with the files, completed. */
async function completed(
  text: string | undefined,
  { files = ['a'], algorithm = 'SHA256', keepOthers = false }: Options = {},
): Promise<string> {
  const manifest = text === undefined ? [] : [{ name: 'META-INF/MANIFEST.MF', contents: text }];
  const source = memorySource(zip([...manifest, ...files.map((name) => ({ name, contents: CONTENTS[name] }))]));
  const layout = await readLayout(source);
  const before = layout.manifest && terminated(layout.manifest.parsed);
  const listed = listEntries(layout, before);
  const digest = await digestListed(source, listed, NODE_DIGEST_NAME[algorithm], digestEntries);
  const request = { manifest: before, listed, digestOf: digest, algorithm, keepOthers };
  return completeManifest(request).toString();
}

const MAIN = lines('Manifest-Version: 1.0', '');
const SECTION_A = lines('Name: a', lineFor('a'), '');
const SHA512 = brokenLine('SHA-512', digestOf('a', 'sha512'));
const SECTION_B = lines('Name: b', lineFor('b'), '');
const X1 = lines('Name: a', 'X: 1', '') + SECTION_B;

/** What it is → before, files, after. Without the last one, the manifest stays as it is. */
const COMPLETED: Readonly<Record<string, readonly [string | undefined, readonly Name[], after?: string]>> = {
  'all digests, with empty lines to spare': [`${MAIN}\r\n\r\n${SECTION_A}\r\n${SECTION_B}\r\n\r\n\r\n`, ['a', 'b']],
  'every end of line': [`X: 1\rY: 2\n\r\nName: a\n${lineFor('a')}\r\r${SECTION_B}`, ['a', 'b']],
  'names in other cases': [MAIN + SECTION_A.replace('Name', 'nAME').replace('SHA-256', 'sha-256'), ['a']],
  'further right digests': [MAIN + lines('Name: a', lineFor('a'), lineFor('a', 'MD5', 'md5'), ''), ['a']],
  'an unknown digest': [MAIN + lines('Name: a', 'Foo-Digest: nonsense', lineFor('a'), ''), ['a']],
  'lines that are broken oddly': [MAIN + SECTION_A.replace(/: (.{1,5})/g, ': \r\n $1\r\n '), ['a']],
  'several sections of one name, of which the last gets the digest': [
    MAIN + X1 + lines('Name: a', 'Y: 1', ''),
    ['a', 'b'],
    MAIN + X1 + lines('Name: a', 'Y: 1', lineFor('a'), ''),
  ],
  'no sections, in the order of the archive': [MAIN, ['b', 'a'], MAIN + SECTION_B + SECTION_A],
  'a section that is missing': [MAIN + SECTION_A, ['b', 'a'], MAIN + SECTION_A + SECTION_B],
  'a wrong digest with continuation lines': [
    MAIN + lines('Name: a', 'SHA-256-Digest: no', ' nsense', ' more', 'X: 1', ''),
    ['a'],
    MAIN + lines('Name: a', lineFor('a'), 'X: 1', ''),
  ],
  'nothing at all': [undefined, ['a'], lines('Manifest-Version: 1.0', 'Created-By: codesign-remote', '') + SECTION_A],
  'an empty line': ['\n', ['a'], `\n${SECTION_A.replaceAll('\r\n', '\n')}`],
  'no contents, of no files': ['', []],
  'a last attribute without its line end': ['X: 1\r\nY: A', ['a'], `X: 1\r\nY: A\r\n\r\n${SECTION_A}`],
  'a missing line end alone': ['X: 1\r\nY: 2', [], 'X: 1\r\nY: 2\r\n'],
};

it.each(Object.entries(COMPLETED))('a manifest with %s is completed', async (_, [before, files, after = before]) => {
  expect(await completed(before, { files })).toBe(after);
});

describe('digests', () => {
  it.each<[string, string]>([
    ['SHA-224', 'sha224'],
    ['sha-1', 'sha1'],
    ['SHA3-512', 'sha3-512'],
  ])('by %s are replaced where they are wrong, in their place', async (javaName, algorithm) => {
    const section = (digest: string) => lines('Name: a', `${javaName}-Digest: ${digest}`, lineFor('a'), 'X: 1', '');
    const wrong = MAIN + section(digestOf('b', algorithm));
    const written = brokenLine(javaName, digestOf('a', algorithm));
    expect(await completed(wrong)).toBe(MAIN + lines('Name: a', written, lineFor('a'), 'X: 1', ''));
  });

  it('by another strong algorithm are enough where signatures are kept; weak ones are not', async () => {
    const sha512 = MAIN + lines('Name: a', SHA512, '');
    expect(await completed(sha512, { keepOthers: true })).toBe(sha512);
    for (const other of [SHA512, lineFor('a', 'SHA1', 'sha1'), lineFor('a', 'SHA-224', 'sha224')]) {
      const text = MAIN + lines('Name: a', other, '');
      const after = MAIN + lines('Name: a', other, lineFor('a'), '');
      expect(await completed(text, { keepOthers: other !== SHA512 })).toBe(after);
    }
    expect(await completed(MAIN + SECTION_A, { algorithm: 'SHA512' })).toContain(SHA512);
  });
});

it.each(['\r\n', '\n', '\r'])(
  'line ends are those of the manifest, but not CR in new sections: %j',
  async (newline) => {
    const text = `X: 1${newline}${newline}Name: a${newline}${newline}`;
    const after = `X: 1${newline}${newline}Name: a${newline}${lineFor('a')}${newline}${newline}`;
    // Java 8 does not read a name that continues behind a lone CR.
    const end = newline === '\r' ? '\r\n' : newline;
    const section = `Name: b${end}${lineFor('b')}${end}${end}`;
    expect(await completed(text, { files: ['a', 'b'] })).toBe(after + section);
  },
);

it.each([
  ['Name: a\r\nX: 1\r\n', lines('Name: a', 'X: 1', lineFor('a'))],
  ['Name: a', lines('Name: a', lineFor('a'))],
  [`Name: a\r\n${lineFor('a')}`, lines('Name: a', lineFor('a'))],
])('a last section that is not ended, %j, gets further attributes, and the last one counts', async (text, after) => {
  // How many empty lines follow is of no interest; to the next section it must be one.
  expect((await completed(MAIN + text)).replace(/(\r\n)+$/, '\r\n')).toBe(MAIN + after);
  const both = await completed(MAIN + text, { files: ['a', 'b'] });
  expect(both.replace(/(\r\n){2,}/g, '\r\n\r\n')).toBe(lines(MAIN + after) + SECTION_B);
});

it('Java reads the manifest as this program does, whatever was there', async () => {
  const mains = ['', 'X: 1', 'X: 1\n', 'X: 1\n\n', 'X: 1\r\r', '\n\n'];
  const sections = ['Name: a', 'Name: a\n\n\n', 'Name: a\nX: 1\n\nName: a\n', 'Name: a\nSHA1-Digest: x'];
  const ended = ['\n', 'X: 1\r\n\r\n'].flatMap((main) => sections.map((section) => main + section));
  // What is put in must not make CR LF, one end of line, of what were two.
  const sideBySide = [
    'X: 1\r\rName: a\nY: 1\n\nName: b\n\n',
    'X: 1\r\rName: a\nSHA1-Digest: x\n\nName: b\n\n',
    ...['X: 1\r\r\nName: a\n\n', 'X: 1\nY: 2\r', 'X: 1\n\nName: c\r'],
  ];
  const texts = [...mains, ...ended, ...sideBySide];
  const all = texts.map(async (text) => Buffer.from(await completed(text, { files: ['a', 'b'] })));
  const results = await Promise.all(all);
  const ours = results.map(readByUs);
  expect(await readByJava(results)).toEqual(ours);
  for (const [index, reading] of ours.entries()) {
    const digests = new Map(reading === 'refused' ? [] : reading.sections);
    for (const name of ['a', 'b'] as const)
      expect(digests.get(name) ?? [], JSON.stringify(texts[index])).toContainEqual(['sha-256-digest', digestOf(name)]);
  }
});

/** With the attribute's name as it was. */
function brokenLine(javaName: string, digest: string): string {
  const text = `${javaName}-Digest: ${digest}`;
  return text.length <= 70 ? text : `${text.slice(0, 70)}\r\n ${text.slice(70)}`;
}
