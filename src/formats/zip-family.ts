export type Names = ReadonlySet<string>;

/** The names in these folders and in the root distinguish the types of ZIP archives. */
export const KIND_FOLDERS: ReadonlySet<string> = new Set(['meta-inf/', '_rels/', 'word/', 'xl/', 'ppt/', 'visio/']);

/** Types of archives that this program does not sign. Several of these types can contain a JAR manifest. */
const OTHERS: readonly (readonly [description: string, fits: (names: Names, fileName: string) => boolean])[] = [
  ['an Android package (APK), which apksigner signs', isApk],
  ['a Visual Studio extension (VSIX)', (names) => names.has('extension.vsixmanifest')],
  [
    'a package for upload to the Store (.msixupload, .appxupload), which the Store signs',
    (names) => !hasManifest(names) && someName(names, (name) => /^[^/]+\.(msix|appx)(bundle)?$/i.test(name)),
  ],
  [
    'a Mozilla extension (XPI)',
    (names) =>
      names.has('META-INF/mozilla.sf') ||
      names.has('META-INF/mozilla.rsa') ||
      names.has('install.rdf') ||
      (names.has('manifest.json') && !hasManifest(names)),
  ],
  ['an OpenDocument file', (names) => names.has('mimetype') && names.has('META-INF/manifest.xml')],
  ['an EPUB book', (names) => names.has('mimetype') && names.has('META-INF/container.xml')],
  [
    'an Office Open XML document',
    (names) => names.has('[Content_Types].xml') && someName(names, (name) => /^(word|xl|ppt|visio)\//.test(name)),
  ],
];

export function otherZipKind(names: Names, fileName: string): string | undefined {
  return OTHERS.find(([, fits]) => fits(names, fileName))?.[0];
}

export function isApk(names: Names, fileName: string): boolean {
  if (/\.(apk|apks|xapk)$/i.test(fileName)) return true;
  return names.has('AndroidManifest.xml') && (names.has('classes.dex') || !isAndroidLibrary(names, fileName));
}

/** An Android library (a JAR, or an AAR with `classes.jar`) can contain an Android manifest. */
function isAndroidLibrary(names: Names, fileName: string): boolean {
  const isNamedAsLibrary = fileName.toLowerCase().endsWith('.aar');
  return isNamedAsLibrary || names.has('classes.jar') || someName(names, (name) => name.endsWith('.class'));
}

export function hasManifest(names: Names): boolean {
  return names.has('META-INF/MANIFEST.MF') || someName(names, (name) => name.toUpperCase() === 'META-INF/MANIFEST.MF');
}

function someName(names: Names, is: (name: string) => boolean): boolean {
  for (const name of names) if (is(name)) return true;
  return false;
}
