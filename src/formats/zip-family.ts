export type Names = ReadonlySet<string>;

/** Names in these folders and in the root distinguish the formats. */
export const KIND_FOLDERS: ReadonlySet<string> = new Set(['meta-inf/', '_rels/', 'word/', 'xl/', 'ppt/', 'visio/']);

/** Each type has a file that no other type has. Several types can also contain a JAR manifest. */
const OTHERS: readonly { readonly description: string; readonly holds: (names: Names, fileName: string) => boolean }[] =
  [
    {
      description: 'an Android package (APK), which apksigner signs',
      holds: isApk,
    },
    { description: 'a Visual Studio extension (VSIX)', holds: (names) => names.has('extension.vsixmanifest') },
    {
      description: 'a package for upload to the Store (.msixupload, .appxupload), which the Store signs',
      holds: (names) => !hasManifest(names) && someName(names, (name) => /^[^/]+\.(msix|appx)(bundle)?$/i.test(name)),
    },
    {
      description: 'a Mozilla extension (XPI)',
      holds: (names) =>
        names.has('META-INF/mozilla.sf') ||
        names.has('META-INF/mozilla.rsa') ||
        names.has('install.rdf') ||
        (names.has('manifest.json') && !hasManifest(names)),
    },
    {
      description: 'an OpenDocument file',
      holds: (names) => names.has('mimetype') && names.has('META-INF/manifest.xml'),
    },
    { description: 'an EPUB book', holds: (names) => names.has('mimetype') && names.has('META-INF/container.xml') },
    {
      description: 'an Office Open XML document',
      holds: (names) =>
        names.has('[Content_Types].xml') && someName(names, (name) => /^(word|xl|ppt|visio)\//.test(name)),
    },
  ];

export function otherZipKind(names: Names, fileName: string): string | undefined {
  return OTHERS.find(({ holds }) => holds(names, fileName))?.description;
}

export function isApk(names: Names, fileName: string): boolean {
  if (isNamedAsApk(fileName)) return true;
  return names.has('AndroidManifest.xml') && (names.has('classes.dex') || !isAndroidLibrary(names, fileName));
}

function isNamedAsApk(fileName: string): boolean {
  return /\.(apk|apks|xapk)$/i.test(fileName);
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
