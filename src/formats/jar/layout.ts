/** Classifies the entries of a JAR (JAR File Specification, "The META-INF directory" and "Signed JAR File"). */

import type { ByteSource } from '../../bytes/byte-source.ts';
import type { ContentReader } from '../../format/signable-file.ts';
import { readArchive, type ZipArchive } from '../../zip/archive.ts';
import { isDirectory, type ZipEntry } from '../../zip/directory.ts';
import { zipErrors } from '../../zip/errors.ts';
import { asBuffer, DEFLATED } from '../../zip/fields.ts';
import { unpack } from '../../zip/unpack.ts';
import { jarErrors } from './errors.ts';
import { type Manifest, readManifest } from './manifest/manifest.ts';

export interface JarLayout {
  readonly archive: ZipArchive;
  readonly manifest: { readonly entry: ZipEntry; readonly parsed: Manifest } | undefined;
  readonly metaInf: ZipEntry | undefined;
  readonly signable: readonly ZipEntry[];
  /** Keyed by the file name without its extension, in upper case. All files of a signature have the same key. */
  readonly signatureFiles: ReadonlyMap<string, SignatureFiles>;
}

export interface SignatureFiles {
  readonly signatureFile: ZipEntry | undefined;
  readonly blocks: readonly ZipEntry[];
}

export const META_INF = 'META-INF/';
export const MANIFEST_NAME = 'META-INF/MANIFEST.MF';

export interface OpenedJar {
  readonly source: ByteSource;
  readonly layout: JarLayout;
  readonly reader: ContentReader;
  readonly name: string;
}

/** Java's limit since 2023 (`jdk.jar.maxSignatureFileSize`). */
export const LARGEST_MANIFEST = 16_000_000;

/** Enough files for 32 signers. Real archives have one or two signers, and Java has no limit. */
const MOST_SIGNATURE_FILES = 64;
const BLOCK_EXTENSIONS: readonly string[] = ['.RSA', '.DSA', '.EC'];

export async function readLayout(source: ByteSource): Promise<JarLayout> {
  const archive = await readArchive(source);
  if (archive.end.locatorBase !== 0) {
    const problem =
      'its ZIP64 locator does not count the bytes before the archive, so Java does not find the directory';
    throw zipErrors('zip-unsupported', { problem });
  }
  const manifests: ZipEntry[] = [];
  const signable: ZipEntry[] = [];
  const signatureFiles = new Map<string, { signatureFile: ZipEntry | undefined; blocks: ZipEntry[] }>();
  let ownCount = 0;
  for (const entry of archive.entries) {
    const own = isDirectory(entry) ? undefined : ownNameOf(entry.name);
    if (isDirectory(entry)) {
      // jarsigner -strict treats a folder with data as an unsigned file.
      const problem = `the folder ${entry.name} contains data, which no signature covers`;
      if (!isEmpty(entry)) throw zipErrors('zip-unsupported', { problem });
    } else if (own === undefined) {
      rejectOtherNameInJava(entry);
      signable.push(entry);
    } else if (own === 'MANIFEST.MF') {
      manifests.push(entry);
    } else if (addSignatureFile(signatureFiles, own, entry)) {
      ownCount++;
      if (ownCount > MOST_SIGNATURE_FILES) throw jarErrors('jar-too-many-signatures', { limit: MOST_SIGNATURE_FILES });
    }
  }
  const [first, second] = manifests;
  if (second !== undefined) throw zipErrors('zip-ambiguous', { problem: 'it has two manifests' });
  const manifest = first && { entry: first, parsed: readManifest(await readWhole(source, first)) };
  return { archive, manifest, metaInf: archive.byName.get(META_INF), signable, signatureFiles };
}

/** Compressed empty data takes two bytes. Longer data could contain entries that only stream readers find. */
function isEmpty({ size, compressedSize, method }: ZipEntry): boolean {
  return size === 0 && compressedSize <= (method === DEFLATED ? 2 : 0);
}

export async function readWhole(source: ByteSource, entry: ZipEntry): Promise<Buffer> {
  for (const size of [entry.size, entry.compressedSize]) {
    if (size > LARGEST_MANIFEST) {
      throw jarErrors('manifest-too-large', { file: entry.name, size, limit: LARGEST_MANIFEST });
    }
  }
  return unpack(asBuffer(await source.read(entry.dataOffset, entry.compressedSize)), entry);
}

/**
 * For a manifest or a signature file, which no signature covers, returns the name under META-INF/ in upper case. As in
 * Java, the extension of a SIG-* name has at most three letters or digits.
 */
export function ownNameOf(name: string): string | undefined {
  const upper = name.toUpperCase();
  if (!upper.startsWith(META_INF)) return undefined;
  const rest = upper.slice(META_INF.length);
  if (rest.includes('/')) return undefined;
  const isOwn = rest === 'MANIFEST.MF' || rest.endsWith('.SF') || BLOCK_EXTENSIONS.some((end) => rest.endsWith(end));
  return isOwn || /^SIG-([^.]*|.*\.[A-Z0-9]{1,3})$/.test(rest) ? rest : undefined;
}

/** Returns false for SIG-* files, which no verifier supports. */
function addSignatureFile(
  files: Map<string, { signatureFile: ZipEntry | undefined; blocks: ZipEntry[] }>,
  own: string,
  entry: ZipEntry,
): boolean {
  const dot = own.lastIndexOf('.');
  const extension = own.slice(dot);
  const isBlock = BLOCK_EXTENSIONS.includes(extension);
  if (extension !== '.SF' && !isBlock) return false;
  const base = own.slice(0, dot);
  const known = files.get(base) ?? { signatureFile: undefined, blocks: [] };
  files.set(base, known);
  if (isBlock) known.blocks.push(entry);
  else if (known.signatureFile === undefined) known.signatureFile = entry;
  else throw zipErrors('zip-ambiguous', { problem: `it has two entries ${META_INF}${own}` });
  return true;
}

/** Java omits a leading / or ./ of a name, then finds no section, and treats the file as unsigned. */
function rejectOtherNameInJava({ name }: ZipEntry): void {
  if (name.startsWith('/') || name.startsWith('./')) {
    const problem = 'begins with / or ./, which Java omits when it looks for the signature';
    throw zipErrors('zip-name-refused', { name: JSON.stringify(name), problem });
  }
}

export function isFileName(name: string): boolean {
  return !name.endsWith('/') && !/^[a-z][a-z0-9+.-]+:/i.test(name);
}
