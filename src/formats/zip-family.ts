/** Which of the many formats that are ZIP archives an archive is, by the names in it. Only a JAR is signed as one. */

import type { ByteSource } from '../bytes/byte-source.ts';
import { CodesignError } from '../errors/codesign-error.ts';
import { readTellingNames } from '../zip/archive.ts';
import { endsLikeArchive } from '../zip/end-record.ts';

export interface ZipFamily {
  /** Noun phrase with its article. */
  readonly description: string;
  /** jar: has a manifest. plain: nothing tells what it is. other: a format with a signature of its own, or none. */
  readonly kind: 'jar' | 'plain' | 'other';
}

/** The names of archives that are JARs whether or not they have a manifest. */
export const JAR_EXTENSIONS = ['.jar', '.war', '.ear', '.rar', '.aar'] as const;

export function isNamedAsJar(name: string): boolean {
  const lower = name.toLowerCase();
  return JAR_EXTENSIONS.some((extension) => lower.endsWith(extension));
}

/** Beginning of a local header, and of the end record of an empty archive. */
const STARTS: readonly string[] = ['PK\x03\x04', 'PK\x05\x06'];
/** Programs that may have an archive behind them (MZ, ELF, Mach-O): what they are is not for the archive to say. */
const PROGRAMS: readonly string[] = ['MZ', '\x7fELF', '\xcf\xfa\xed\xfe', '\xce\xfa\xed\xfe', '\xca\xfe\xba\xbe'];

/**
 * Undefined for a file that is no archive, or that is a program with one behind it. An archive that cannot be read is
 * described as damaged.
 */
export async function recogniseZip(head: Uint8Array, source: ByteSource, name: string): Promise<ZipFamily | undefined> {
  const start = Buffer.from(head.subarray(0, 4)).toString('latin1');
  if (!STARTS.includes(start)) {
    if (PROGRAMS.some((program) => start.startsWith(program)) && !isNamedAsJar(name)) return undefined;
    if (!(await endsLikeArchive(source))) return undefined;
  }
  try {
    return familyOf(await readTellingNames(source, FOLDERS));
  } catch (thrown) {
    if (!(thrown instanceof CodesignError)) throw thrown;
    return { kind: 'plain', description: 'a ZIP archive, damaged or of an unusual kind' };
  }
}

type Names = ReadonlySet<string>;

/** In lower case. What is in these folders tells formats apart, beside what is in none. */
const FOLDERS: ReadonlySet<string> = new Set([
  'meta-inf/',
  '_rels/',
  'appxmetadata/',
  'word/',
  'xl/',
  'ppt/',
  'visio/',
]);

/** Others than JARs, each with what only it has. Several of them may hold a JAR manifest too. */
const OTHERS: readonly { readonly description: string; readonly holds: (names: Names) => boolean }[] = [
  {
    description: 'an Android package (APK)',
    holds: (names) =>
      names.has('AndroidManifest.xml') &&
      (names.has('classes.dex') ||
        (names.has('resources.arsc') && !someName(names, (name) => name.endsWith('.class')))),
  },
  { description: 'a Visual Studio extension (VSIX)', holds: (names) => names.has('extension.vsixmanifest') },
  {
    description: 'an MSIX or APPX package',
    holds: (names) => names.has('AppxManifest.xml') || names.has('AppxMetadata/AppxBundleManifest.xml'),
  },
  {
    description: 'a NuGet package',
    holds: (names) =>
      (names.has('_rels/.rels') || names.has('[Content_Types].xml')) &&
      someName(names, (name) => !name.includes('/') && name.toLowerCase().endsWith('.nuspec')),
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

function familyOf(names: Names): ZipFamily {
  const other = OTHERS.find(({ holds }) => holds(names));
  if (other !== undefined) return { kind: 'other', description: other.description };
  if (hasManifest(names)) return { kind: 'jar', description: 'a JAR archive' };
  return { kind: 'plain', description: 'a ZIP archive without a JAR manifest' };
}

function hasManifest(names: Names): boolean {
  return names.has('META-INF/MANIFEST.MF') || someName(names, (name) => name.toUpperCase() === 'META-INF/MANIFEST.MF');
}

function someName(names: Names, is: (name: string) => boolean): boolean {
  for (const name of names) if (is(name)) return true;
  return false;
}
