/** What is what in a JAR (JAR File Specification, "The META-INF directory" and "Signed JAR File"). */

import type { ByteSource } from '../../bytes/byte-source.ts';
import { readArchive, type ZipArchive } from '../../zip/archive.ts';
import { isDirectory, type ZipEntry } from '../../zip/entry.ts';
import { zipErrors } from '../../zip/errors.ts';
import { asBuffer } from '../../zip/fields.ts';
import { unpack } from '../../zip/unpack.ts';
import { jarErrors } from './errors.ts';
import { type Manifest, readManifest } from './manifest.ts';

export interface JarLayout {
  readonly archive: ZipArchive;
  /** Undefined when the archive has none. */
  readonly manifest: { readonly entry: ZipEntry; readonly parsed: Manifest } | undefined;
  /** Its directory entry; undefined when the archive has none, as it need not. */
  readonly metaInf: ZipEntry | undefined;
  /** What a signature covers: every file but the manifest and the signatures' own. */
  readonly signable: readonly ZipEntry[];
  /** The signatures' own, by the name that makes them belong together, in upper case. */
  readonly signatureFiles: ReadonlyMap<string, SignatureFiles>;
  /** Whole sentences. */
  readonly warnings: readonly string[];
}

export interface SignatureFiles {
  readonly signatureFile: ZipEntry | undefined;
  /** Usually one. */
  readonly blocks: readonly ZipEntry[];
}

export const META_INF = 'META-INF/';
export const MANIFEST_NAME = 'META-INF/MANIFEST.MF';
/** Java's own limit since 2023, for the manifest and signature files alike (`jdk.jar.maxSignatureFileSize`). */
export const LARGEST_MANIFEST = 16_000_000;

const BLOCK_EXTENSIONS: readonly string[] = ['.RSA', '.DSA', '.EC'];

/** Throws what `zipErrors` and `jarErrors` list. */
export async function readLayout(source: ByteSource): Promise<JarLayout> {
  const archive = await readArchive(source);
  const manifests: ZipEntry[] = [];
  const signable: ZipEntry[] = [];
  const signatureFiles = new Map<string, { signatureFile: ZipEntry | undefined; blocks: ZipEntry[] }>();
  for (const entry of archive.entries) {
    const own = isDirectory(entry) ? undefined : ownNameOf(entry.name);
    if (isDirectory(entry)) {
      // jarsigner -strict takes it as an unsigned file.
      const problem = `the directory ${entry.name} holds data, which no signature covers`;
      if (entry.size > 0) throw zipErrors('zip-unsupported', { problem });
    } else if (own === undefined) {
      refuseOtherNameInJava(entry);
      signable.push(entry);
    } else if (own === 'MANIFEST.MF') {
      manifests.push(entry);
    } else {
      addSignatureFile(signatureFiles, own, entry);
    }
  }
  const [first, second] = manifests;
  if (second !== undefined) throw zipErrors('zip-ambiguous', { problem: 'it has two manifests' });
  const manifest = first && { entry: first, parsed: readManifest(await readWhole(source, first)) };
  const metaInf = archive.byName.get(META_INF);
  return {
    archive,
    manifest,
    metaInf,
    signable,
    signatureFiles,
    warnings: describeOddities(archive, manifest, signable, signatureFiles),
  };
}

/** The contents of the manifest, a signature file or a block. Throws `manifest-too-large`, `zip-entry-damaged`. */
export async function readWhole(source: ByteSource, entry: ZipEntry): Promise<Buffer> {
  for (const size of [entry.size, entry.compressedSize]) {
    if (size > LARGEST_MANIFEST) {
      throw jarErrors('manifest-too-large', { file: entry.name, size, limit: LARGEST_MANIFEST });
    }
  }
  return unpack(asBuffer(await source.read(entry.dataOffset, entry.compressedSize)), entry);
}

/**
 * Of a manifest or a signature's own file, its name under META-INF/ in upper case: those directly there are not signed.
 * SIG-* counts only with an extension of at most three letters or digits, as Java has it.
 */
export function ownNameOf(name: string): string | undefined {
  const upper = name.toUpperCase();
  if (!upper.startsWith(META_INF)) return undefined;
  const rest = upper.slice(META_INF.length);
  if (rest.includes('/')) return undefined;
  const isOwn = rest === 'MANIFEST.MF' || rest.endsWith('.SF') || BLOCK_EXTENSIONS.some((end) => rest.endsWith(end));
  return isOwn || /^SIG-([^.]*|.*\.[A-Z0-9]{1,3})$/.test(rest) ? rest : undefined;
}

function addSignatureFile(
  files: Map<string, { signatureFile: ZipEntry | undefined; blocks: ZipEntry[] }>,
  own: string,
  entry: ZipEntry,
): void {
  const dot = own.lastIndexOf('.');
  const extension = own.slice(dot);
  const isBlock = BLOCK_EXTENSIONS.includes(extension);
  // A SIG-* file is a signature that no verifier knows: it stays as it is.
  if (extension !== '.SF' && !isBlock) return;
  const base = own.slice(0, dot);
  const known = files.get(base) ?? { signatureFile: undefined, blocks: [] };
  files.set(base, known);
  if (isBlock) known.blocks.push(entry);
  else if (known.signatureFile === undefined) known.signatureFile = entry;
  else throw zipErrors('zip-ambiguous', { problem: `it has two entries ${META_INF}${own}` });
}

/** Java looks these up without their beginning, finds no section, and takes them as unsigned. */
function refuseOtherNameInJava({ name }: ZipEntry): void {
  if (name.startsWith('/') || name.startsWith('./')) {
    const problem = 'begins with / or ./, which Java leaves out when it looks for its signature';
    throw zipErrors('zip-name-refused', { name: JSON.stringify(name), problem });
  }
}

function describeOddities(
  { end, byName }: ZipArchive,
  manifest: JarLayout['manifest'],
  signable: readonly ZipEntry[],
  signatureFiles: JarLayout['signatureFiles'],
): string[] {
  const warnings: string[] = [];
  if (end.trailingLength > 0)
    warnings.push(`${end.trailingLength} bytes follow the archive; they are kept, and not signed.`);
  if (manifest === undefined) warnings.push('The archive has no manifest; it gets one.');
  else if (manifest.entry.name !== MANIFEST_NAME) {
    warnings.push(
      `The manifest is named ${manifest.entry.name}, under which Java verifies nothing; it becomes ${MANIFEST_NAME}.`,
    );
  }
  const absent = manifest === undefined ? [] : absentEntries(manifest.parsed, byName);
  if (absent.length > 0) {
    const others = absent.length > 1 ? ` and ${absent.length - 1} more` : '';
    warnings.push(
      `The manifest has a section for ${absent[0]}${others}, which the archive does not hold; it stays, unsigned.`,
    );
  }
  if (signable.length === 0) warnings.push('The archive holds no file to sign but its manifest.');
  for (const [base, { signatureFile, blocks }] of signatureFiles) {
    if (signatureFile === undefined) warnings.push(`META-INF/${base} has a signature block and no signature file.`);
    else if (blocks.length === 0) warnings.push(`META-INF/${base}.SF has no signature block: it is no signature.`);
  }
  return warnings;
}

/** Names of files that the manifest has sections for and the archive has not. Packages and addresses are no files. */
function absentEntries(manifest: Manifest, byName: ZipArchive['byName']): string[] {
  const absent: string[] = [];
  for (const { name } of manifest.sections()) if (!byName.has(name) && isFileName(name)) absent.push(name);
  return absent;
}

export function isFileName(name: string): boolean {
  return !name.endsWith('/') && !/^[a-z][a-z0-9+.-]+:/i.test(name);
}
