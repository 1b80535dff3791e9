import { readFile } from 'node:fs/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { memorySource } from '../../../src/bytes/byte-source.ts';
import { type ContainedVerdict, createWalker, locationOf, type WalkLimits } from '../../../src/containers/walk.ts';
import { makeAsar } from '../../support/containers/make-asar.ts';
import { cabOf, cabSet } from '../../support/containers/make-cab.ts';
import { makeTar } from '../../support/containers/make-tar.ts';
import { zipOf } from '../../support/containers/make-zip.ts';
import { REPOSITORY } from '../../support/programs/cli.ts';
import { zip } from '../formats/jar/simple-zip.ts';
import { makeCompoundFile } from '../formats/msi/samples.ts';
import { INTEGRITY_ONLY } from '../verifying/support/integrity-only.ts';

const LIMITS: WalkLimits = { depth: 8, files: 200_000, inflated: 2 ** 34 };
const fixture = (path: string) => readFile(`${REPOSITORY}/fixtures/${path}`);
const SIGNED = await fixture('golden/sha256-rsa2048.exe');
const UNSIGNED = await fixture('pe/hello.exe');
/** A gzip file that contains itself, as in Russ Cox, "Zip Files All The Way Down" (2010). */
const QUINE =
  'H4sICAAAAAAAA3NlbGYAABQA6/8fiwgIAAAAAAADc2VsZgAAFADr/0KIIcQAAAUA+v9CiCHEAAAFAPr/AAUA+v8AFADr/0KI' +
  'IcQAAAUA+v8ABQD6/wAUAOv/QoghxAAAFADr/0KIIcQAABQA6/9CiCHEAAAUAOv/QoghxAAAFADr/0KIIcQAAAAA//8AAAD/' +
  '/wAUAOv/QoghxAAAAAD//wAAAP//ABQA6/9CiCHEAAAAAP//AwDw+ZhR0gAAAEKIIcQAAAAA//8DAPD5mFHSAAAA';
const OFFICE_DOCUMENT = makeCompoundFile({ clsid: '00'.repeat(16), children: [] });

const walker = (limits: Partial<WalkLimits> = {}) => createWalker(INTEGRITY_ONLY, { ...LIMITS, ...limits });

const walk = (bytes: Uint8Array, name: string, limits?: Partial<WalkLimits>) =>
  walker(limits)(memorySource(bytes), name);
const summary = (found: readonly ContainedVerdict[]) =>
  found.map(({ path, kind, verified, notOpened }) => [locationOf(path), kind, notOpened?.code ?? verified?.verdict]);

it('finds files in every container, by content and in order', async () => {
  const inner = zipOf({ 'bin/app': SIGNED, 'notes.txt': Buffer.from('notes') });
  const asar = makeAsar({ 'lib/native.node': UNSIGNED });
  const files = [
    { name: 'app.zip', content: inner },
    { name: 'resources/app.asar', content: asar },
  ];
  const bytes = gzipSync(makeTar(files));
  expect(summary(await walk(bytes, 'dist/app.tar.gz'))).toEqual([
    ['dist/app.tar.gz', 'tar', 'unsigned'],
    ['dist/app.tar.gz!/app.zip', 'zip', 'unsigned'],
    ['dist/app.tar.gz!/app.zip!/bin/app', 'pe', 'intact'],
    ['dist/app.tar.gz!/app.zip!/notes.txt', 'other', undefined],
    ['dist/app.tar.gz!/resources/app.asar', 'asar', 'unsigned'],
    ['dist/app.tar.gz!/resources/app.asar!/lib/native.node', 'pe', 'unsigned'],
  ]);
});

it('finds files in cabinets, and in cabinets that continue in the same folder of a container', async () => {
  const [first, second] = cabSet('app.exe', SIGNED, ['1.cab', '2.cab']);
  const own = cabOf({ 'b.exe': UNSIGNED }, true);
  const files = { 'd/1.cab': first, 'd/2.CAB': second, 'e/1.cab': first, 'own.cab': own };
  expect(summary(await walk(zipOf(files), 'a.zip')).slice(1)).toEqual([
    ['a.zip!/d/1.cab', 'cab', 'unsigned'],
    ['a.zip!/d/1.cab!/app.exe', 'pe', 'intact'],
    ['a.zip!/d/2.CAB', 'cab', 'unsigned'],
    ['a.zip!/e/1.cab', 'cab', 'unsigned'],
    ['a.zip!/e/1.cab!/app.exe', 'other', 'cabinet-missing'],
    ['a.zip!/own.cab', 'cab', 'unsigned'],
    ['a.zip!/own.cab!/b.exe', 'pe', 'unsigned'],
  ]);
});

it('names kinds without a signature, and archives that it cannot open', async () => {
  const files = {
    program: Buffer.from('\x7fELF'),
    'app.apk': zipOf({ 'classes.dex': Buffer.from('x') }),
    'app.7z': Buffer.from('377abcaf271c0004', 'hex'),
    'app.js': Buffer.from('// SIG // Begin signature block for é'),
    'disguised.js': UNSIGNED,
    'letter.doc': OFFICE_DOCUMENT,
    'letter.msi': OFFICE_DOCUMENT,
    'boot.com': Buffer.from('MZ a program for DOS'),
    'boot.exe': Buffer.from('MZ a program for DOS'),
  };
  expect(summary(await walk(zipOf(files), 'a.zip')).slice(1)).toEqual([
    ['a.zip!/program', 'elf', undefined],
    ['a.zip!/app.apk', 'apk', undefined],
    ['a.zip!/app.7z', 'other', 'container-unsupported'],
    ['a.zip!/app.js', 'other', undefined],
    ['a.zip!/disguised.js', 'pe', 'unsigned'],
    ['a.zip!/letter.doc', 'other', undefined],
    ['a.zip!/letter.msi', 'msi', 'not-an-installer-file'],
    ['a.zip!/boot.com', 'other', undefined],
    ['a.zip!/boot.exe', 'pe', 'unsigned'],
  ]);
});

it('verifies equal contents once, and reports them for each location', async () => {
  const inner = zipOf({ 'app.exe': SIGNED });
  const found = await walk(zipOf({ 'one.zip': inner, 'two.zip': inner, 'other.dll': SIGNED }), 'a.zip');
  expect(found.map(({ path, sameAs }) => [locationOf(path), sameAs && locationOf(sameAs)])).toEqual([
    ['a.zip', undefined],
    ['a.zip!/one.zip', undefined],
    ['a.zip!/one.zip!/app.exe', undefined],
    ['a.zip!/two.zip', 'a.zip!/one.zip'],
    ['a.zip!/two.zip!/app.exe', 'a.zip!/one.zip!/app.exe'],
    ['a.zip!/other.dll', undefined],
  ]);
  const [, one, , two] = found;
  expect(two?.verified).toBe(one?.verified);
});

describe('a container that cannot be read', () => {
  it('is not opened if it is damaged', async () => {
    const damaged = zipOf({ 'app.exe': UNSIGNED }).subarray(0, -30);
    for (const name of ['a.zip', 'a.jar', 'a.nupkg', 'a.msix']) {
      expect(summary(await walk(damaged, name))).toEqual([[name, expect.any(String), 'zip-malformed']]);
    }
    const cabinet = cabOf({ a: UNSIGNED }).subarray(0, -1);
    expect(summary(await walk(cabinet, 'a.cab'))).toEqual([['a.cab', 'cab', 'file-truncated']]);
  });

  it('is read as an archive if only its format is damaged', async () => {
    const files = { 'AppxManifest.xml': Buffer.from('<'), 'AppxBlockMap.xml': Buffer.from('<'), 'a.exe': UNSIGNED };
    expect(summary(await walk(zipOf(files), 'a.msix')).filter(([, kind]) => kind !== 'other')).toEqual([
      ['a.msix', 'appx', 'appx-malformed'],
      ['a.msix!/a.exe', 'pe', 'unsigned'],
    ]);
  });

  it('is read up to the damage', async () => {
    const archive = makeTar([
      { name: 'a.exe', content: SIGNED },
      { name: 'b.exe', content: UNSIGNED },
    ]).subarray(0, -2048);
    expect(summary(await walk(archive, 'a.tar'))).toEqual([
      ['a.tar', 'tar', 'file-malformed'],
      ['a.tar!/a.exe', 'pe', 'intact'],
    ]);
  });

  it('does not hide the other entries if one is damaged', async () => {
    const bytes = zipOf({ 'a.txt': Buffer.from('damaged'), 'b.exe': SIGNED });
    bytes.write('DAMAGED', bytes.indexOf('damaged'));
    expect(summary(await walk(bytes, 'a.zip')).slice(1)).toEqual([
      ['a.zip!/a.txt', 'other', 'zip-entry-damaged'],
      ['a.zip!/b.exe', 'pe', 'intact'],
    ]);
  });
});

it.each([
  ['setup.pkg', 'xar!', 'a macOS package or other archive (xar)'],
  ['install.wim', 'MSWIM\0\0\0', 'a Windows image archive (WIM)'],
  ['app.tar.Z', '\x1f\x9d', 'a compress archive (.Z)'],
  ['App.AppImage', '\x7fELF\x02\x01\x01\0AI\x02', 'a Linux program (ELF) with an archive (AppImage)'],
  ['App.dmg', 'x\x01', 'a macOS disk image (DMG)'],
  ['setup.ISO', '\0\0', 'a disk image (ISO 9660)'],
])('reports that %s was not opened', async (name, start, kind) => {
  const [found] = await walk(Buffer.from(start, 'latin1'), name);
  expect(found?.notOpened?.message).toContain(`cannot open ${kind}`);
});

it('warns about odd names, which change no result', async () => {
  const names = ['a.txt', 'A.txt', 'a.txt', '../b.txt', '/c.txt', 'C:\\d.txt', 'd/..e/f'];
  const archive = zipOf({ 'a.txt': SIGNED, 'A.txt': SIGNED, 'X.txt': SIGNED, '../b.txt': SIGNED });
  const archives = {
    'a.tar': makeTar(names.map((name) => ({ name, content: SIGNED }))),
    'a.zip': renamed(archive, 'X.txt', 'a.txt'),
  };
  for (const [name, bytes] of Object.entries(archives)) {
    const [outer, ...inside] = await walk(bytes, name);
    expect(outer?.notOpened).toBeUndefined();
    expect(outer?.verified?.findings.map(({ code, message, weight }) => [code, message, weight])).toEqual([
      ['name-leaves-folder', expect.stringContaining('"../b.txt"'), 'warning'],
      ['name-repeated', 'Several files have the same name: "a.txt".', 'warning'],
      ['name-differs-in-case', 'Names differ from other names only in case: "A.txt".', 'warning'],
    ]);
    expect(inside.map(({ verified }) => verified?.verdict)).toEqual(inside.map(() => 'intact'));
  }
});

const renamed = (bytes: Buffer, from: string, to: string) =>
  Buffer.from(bytes.toString('latin1').replaceAll(from, to), 'latin1');

describe('limits', () => {
  it('end a file that contains too many levels', async () => {
    let bytes: Buffer = SIGNED;
    for (let level = 0; level < 9; level += 1) bytes = zipOf({ 'a.zip': bytes });
    const codes = (await walk(bytes, 'a.zip')).map(({ notOpened }) => notOpened?.code);
    expect(codes).toEqual([...Array(8).fill(undefined), 'containers-too-deep']);
  });

  it('end gzip data that contains itself', async () => {
    const quine = Buffer.from(QUINE, 'base64');
    expect(gunzipSync(quine)).toEqual(quine);
    expect((await walk(quine, 'self.gz')).at(-1)?.notOpened?.code).toBe('containers-too-deep');
  });

  it('end a file with too many files, or too much data', async () => {
    const bytes = zipOf({ a: Buffer.from('x'), b: Buffer.alloc(5), 'c.exe': SIGNED });
    expect(summary(await walk(bytes, 'a.zip', { files: 2 }))).toEqual([
      ['a.zip', 'zip', 'contents-too-many'],
      ['a.zip!/a', 'other', undefined],
      ['a.zip!/b', 'other', undefined],
    ]);
    const [outer] = await walk(bytes, 'a.zip', { inflated: 5 });
    expect(outer?.notOpened?.code).toBe('contents-too-large');
  });

  it('count the files in copies of a container, which are verified once', async () => {
    let bytes: Buffer = SIGNED;
    for (let level = 0; level < 7; level += 1) {
      const copies = Array.from({ length: 16 }, (_, index): [string, Buffer] => [`${index}.zip`, bytes]);
      bytes = zipOf(Object.fromEntries(copies), true);
    }
    const found = await walk(bytes, 'a.zip', { files: 2000 });
    expect(found.length).toBeLessThan(4000);
    expect(found.some(({ notOpened }) => notOpened?.code === 'contents-too-many')).toBe(true);
  });

  it('end a file whose contents have more than 1000 times its size, as nested archives like 42.zip', async () => {
    let bytes = zip([{ name: 'zeros', size: 110_000_000 }]);
    for (let level = 0; level < 5; level += 1) {
      expect((await walk(bytes, '42.zip')).map(({ notOpened }) => notOpened?.code)).toContain('contents-too-large');
      const copies = Array.from({ length: 16 }, (_, index): [string, Buffer] => [`${index}.zip`, bytes]);
      bytes = zipOf(Object.fromEntries(copies), true);
    }
  });
});
