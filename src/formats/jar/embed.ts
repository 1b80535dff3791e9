/** The edits that put a signature into a JAR: manifest, signature file and block come first; the directory follows. */

import type { Patch } from '../../bytes/patch.ts';
import type { ZipArchive } from '../../zip/archive.ts';
import type { ZipEntry } from '../../zip/directory.ts';
import { editArchive } from '../../zip/edit-archive.ts';
import { CENTRAL_RECORD_LENGTH, findExtraField } from '../../zip/fields.ts';
import { deflatedEntry, type NewEntry, storedEntry } from '../../zip/new-entry.ts';
import { type JarLayout, MANIFEST_NAME, META_INF } from './layout.ts';

export interface JarChange {
  readonly manifest: Buffer;
  readonly signatureFile: Buffer;
  /** Of the signature's two files. */
  readonly base: string;
  /** Entries that give way: signatures that are replaced. */
  readonly remove: readonly ZipEntry[];
}

/** A directory entry has no data worth the name. */
const LONGEST_DIRECTORY_RECORD = 0x10000;
/** Header ID of the extra field by which `file` and some desktops tell an executable JAR from a ZIP; only the first entry has it. */
const JAR_MAGIC = 0xcafe;

/**
 * Packs what does not depend on the signature. A stream reader (JarInputStream) needs META-INF/, the manifest, and then
 * the signatures before everything else. The block is stored, so that its length is known before the signature is.
 */
export function prepareEmbedding(
  layout: JarLayout,
  { manifest, signatureFile, base, remove }: JarChange,
): (sealed: Uint8Array) => Patch {
  const { archive, metaInf } = layout;
  const first: (NewEntry | ZipEntry)[] = [];
  if (metaInf !== undefined && metaInf.end - metaInf.offset <= LONGEST_DIRECTORY_RECORD) {
    first.push(metaInf);
  }
  const old = layout.manifest;
  const isUnchanged = old?.entry.name === MANIFEST_NAME && old.parsed.bytes.equals(manifest);
  if (old !== undefined && isUnchanged) {
    first.push(old.entry);
  } else {
    const entry = deflatedEntry(MANIFEST_NAME, manifest);
    first.push(first.length === 0 ? { ...entry, extra: jarMagic(archive) } : entry);
  }
  first.push(deflatedEntry(`${META_INF}${base}.SF`, signatureFile));
  const removed = new Set([...remove, ...(old === undefined || isUnchanged ? [] : [old.entry])]);
  return (sealed) =>
    editArchive(archive, { remove: removed, first: [...first, storedEntry(`${META_INF}${base}.RSA`, sealed)] });
}

/** The first entry's. */
export function jarMagic({ directory, inFile }: ZipArchive): Uint8Array {
  const first = inFile[0];
  if (first === undefined) return new Uint8Array();
  const start = first.recordStart + CENTRAL_RECORD_LENGTH + directory.readUInt16LE(first.recordStart + 28);
  const end = start + directory.readUInt16LE(first.recordStart + 30);
  const field = findExtraField(directory, start, end, JAR_MAGIC);
  return field === undefined ? new Uint8Array() : Uint8Array.from(directory.subarray(field.start - 4, field.end));
}
