import { describe, expect, it } from 'vitest';
import { jar } from '../../../src/formats/jar/index.ts';
import { formats } from '../../../src/formats/registry.ts';
import { zip } from './jar/simple-zip.ts';
import { fixturesIn } from './support/fixtures.ts';
import { isOf, recognised } from './support/recognised.ts';

const MANIFEST = 'META-INF/MANIFEST.MF';
const archiveOf = (...names: readonly string[]) => zip(names.map((name) => ({ name, contents: name })));
const isJar = (file: Parameters<typeof isOf>[1], name = 'file') => isOf(jar, file, name);

/** What it is → archives, each by the names in it. */
const FAMILIES: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'a JAR archive': [
    [MANIFEST],
    ['meta-inf/manifest.mf'],
    // An Android library that has code, and a web application that has a page of that name.
    ['AndroidManifest.xml', 'classes.jar', 'R.txt', MANIFEST],
    ['AndroidManifest.xml', 'resources.arsc', 'a/B.class', MANIFEST],
    ['mimetype', MANIFEST],
    ['[Content_Types].xml', MANIFEST],
    ['Hello.nuspec', '[Content_Types].xml', MANIFEST],
    // A library of Office's formats.
    ['org/word/Document.class', 'word/document.xml', MANIFEST],
  ],
  'a ZIP archive without a JAR manifest': [
    [],
    ['a/B.class'],
    ['x/META-INF/MANIFEST.MF'],
    ['BundleConfig.pb', 'base/manifest/AndroidManifest.xml', 'base/dex/classes.dex'],
    ['AndroidManifest.xml', 'classes.jar', 'R.txt'],
  ],
  'an Android package (APK)': [
    ['AndroidManifest.xml', 'classes.dex', MANIFEST],
    ['AndroidManifest.xml', 'resources.arsc', 'res/a.xml', MANIFEST],
    ['AndroidManifest.xml', 'lib/x86/liba.so', MANIFEST],
    ['AndroidManifest.xml'],
  ],
  'a Visual Studio extension (VSIX)': [
    ['extension.vsixmanifest', '[Content_Types].xml'],
    ['extension.vsixmanifest', MANIFEST],
  ],
  'a package for upload to the Store': [
    ['Hello.msixbundle', 'Hello.appxsym'],
    ['Hello.APPX', 'note.txt'],
  ],
  'a Mozilla extension (XPI)': [
    ['manifest.json', 'background.js'],
    ['install.rdf'],
    ['manifest.json', 'META-INF/manifest.mf', 'META-INF/mozilla.sf', 'META-INF/mozilla.rsa'],
  ],
  'an OpenDocument file': [['mimetype', 'META-INF/manifest.xml', 'content.xml']],
  'an EPUB book': [['mimetype', 'META-INF/container.xml', 'book.opf']],
  'an Office Open XML document': [
    ['[Content_Types].xml', 'word/document.xml'],
    ['[Content_Types].xml', 'xl/workbook.xml'],
    ['[Content_Types].xml', 'ppt/presentation.xml'],
  ],
};

const CASES = Object.entries(FAMILIES).flatMap(([description, archives]) =>
  archives.map((names) => ({ description, names })),
);

describe('the kind of a ZIP archive', () => {
  it.each(CASES)('is $description, whatever the order: $names', async ({ description, names }) => {
    for (const each of [names, names.toReversed()])
      expect(await recognised(archiveOf(...each))).toContain(`looks like ${description}`);
  });

  it('names a damaged archive as one', async () => {
    const whole = archiveOf(MANIFEST);
    for (const bytes of [whole.subarray(0, 40), whole.subarray(0, -30), Buffer.from('PK\x03\x04')]) {
      expect(await recognised(bytes)).toContain('a ZIP archive, damaged');
    }
  });
});

const archive = [{ name: MANIFEST, contents: 'X: 1\n\n' }];

it.each(['MZ', '\x7fELF', '\xcf\xfa\xed\xfe', '\xca\xfe\xba\xbe'])(
  'a program (%j) with an appended archive counts as an archive only if it is named like a JAR',
  async (start) => {
    const bytes = Buffer.concat([Buffer.from(start, 'latin1'), Buffer.alloc(60)]);
    const program = Buffer.concat([bytes, zip(archive)]);
    expect(await isJar(program, 'setup.jar')).toBe(true);
    expect(await isJar(program, 'setup.exe')).toBe(false);
  },
);

const BUNDLE = ['BundleConfig.pb', 'base/manifest/AndroidManifest.xml', 'base/dex/classes.dex'];
const PLAIN = 'a ZIP archive without a JAR manifest';
const APK = 'an Android package (APK)';

/** The names of files, the names in them, and the format or what they look like. */
const NAMED: readonly (readonly [fileNames: readonly string[], names: readonly string[], kind: string])[] = [
  [['a.zip', 'a.exe', ''], [MANIFEST, 'a'], 'jar'],
  [['a.jar', 'A.WAR', 'a.b.ear', 'a.rar', 'a.aar', 'a.aab', '.jar'], ['a/B.class'], 'jar'],
  [['a.zip', 'jar', 'a.jar.zip', 'a.jarx', ''], ['a/B.class'], PLAIN],
  [['app.aab'], BUNDLE, 'jar'],
  [['App.AAB'], [...BUNDLE, MANIFEST], 'jar'],
  [['library.aar'], ['AndroidManifest.xml', 'res/a.xml'], 'jar'],
  [['library.aar'], ['AndroidManifest.xml', 'classes.dex'], APK],
  [['a.apk', 'A.APK', 'a.apks', 'a.xapk'], ['a/B.class', MANIFEST], APK],
  [['a.jar', 'a.aab'], ['AndroidManifest.xml', 'resources.arsc', MANIFEST], APK],
  [['a.nupkg'], ['a.nuspec'], 'nuget'],
  [['a.zip'], ['a.NUSPEC', '_rels/.rels'], 'nuget'],
  [['a.snupkg'], ['a.nuspec', MANIFEST], 'nuget'],
  [['a.jar'], ['a.nuspec', '[Content_Types].xml', MANIFEST], 'jar'],
  [['a.nupkg'], ['lib/a.nuspec'], PLAIN],
];

it.each(NAMED)('a file with a name like %j that contains %j is %s', async (fileNames, names, kind) => {
  for (const name of fileNames) {
    const said = await recognised(archiveOf(...names), name, formats);
    expect([name, said]).toEqual([name, said === kind ? kind : expect.stringContaining(`looks like ${kind}`)]);
  }
});

it('a damaged archive is taken by its name, to say what is wrong with it', async () => {
  const damaged = archiveOf(MANIFEST).subarray(0, 60);
  const kinds = { jar: ['a.jar'], nuget: ['a.nupkg', 'a.SNUPKG'], appx: ['a.msix', 'a.appxbundle'] };
  for (const [kind, names] of Object.entries(kinds))
    for (const name of names) expect(await recognised(damaged, name, formats)).toBe(kind);
  expect(await isJar(damaged, 'a.zip')).toBe(false);
});

it.each(fixturesIn('strangers'))('$name is of no format: $looksLike', async ({ bytes, looksLike, name }) => {
  expect(await recognised(bytes, name, formats)).toContain(looksLike);
});

it('the name of a JAR makes no JAR of another format', async () => {
  for (const { name, bytes } of fixturesIn('strangers').filter((each) => !/\.(exe|zip)$/.test(each.name))) {
    expect(await isJar(bytes, `${name}.jar`), name).toBe(false);
  }
  expect(await isJar(Buffer.from('Rar!\x1a\x07\x01\0', 'latin1'), 'a.rar')).toBe(false);
});
