import type { Patch } from '../../bytes/pieces.ts';
import { formatErrors } from '../../format/errors.ts';
import type { ZipArchive } from '../../zip/archive.ts';
import type { ZipEntry } from '../../zip/directory.ts';
import { editArchive } from '../../zip/edit-archive.ts';
import { CENTRAL_RECORD_LENGTH, findExtraField } from '../../zip/fields.ts';
import { deflatedEntry, type NewEntry, storedEntry } from '../../zip/write-records.ts';
import { type JarLayout, MANIFEST_NAME, META_INF, type SignatureFiles } from './layout.ts';
import { withoutDigests } from './manifest/complete.ts';
import { rawName } from './stamp.ts';

const LONGEST_DIRECTORY_RECORD = 0x10000;
/** The `file` command and some desktops recognise an executable JAR by this extra field of its first entry. */
const JAR_MAGIC = 0xcafe;

/**
 * JarInputStream requires META-INF/, the manifest and the signatures, in this order, before all other entries. The
 * block is not compressed, so its length is known before signing. `base` is the file name without an extension.
 */
export function prepareEmbedding(
  layout: JarLayout,
  manifest: Buffer,
  signatureFile: Buffer,
  base: string,
  remove: readonly ZipEntry[],
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

function jarMagic({ directory, inFile }: ZipArchive): Uint8Array {
  const first = inFile[0];
  if (first === undefined) return new Uint8Array();
  const start = first.recordStart + CENTRAL_RECORD_LENGTH + directory.readUInt16LE(first.recordStart + 28);
  const end = start + directory.readUInt16LE(first.recordStart + 30);
  const field = findExtraField(directory, start, end, JAR_MAGIC);
  return field === undefined ? new Uint8Array() : Uint8Array.from(directory.subarray(field.start - 4, field.end));
}

/**
 * Also removes incomplete signatures, the digests in the manifest, and a manifest that this program created. Keeps
 * SIG-* files, because verifiers ignore these files.
 */
export function removeSignatures({ archive, manifest, signatureFiles }: JarLayout): Patch {
  const remove = new Set([...signatureFiles.values()].flatMap(filesOf));
  if (remove.size === 0) throw formatErrors('not-signed', {});
  const after = new Map<ZipEntry, NewEntry>();
  if (manifest !== undefined) {
    const { entry, parsed } = manifest;
    const stripped = withoutDigests(parsed);
    if (stripped === undefined) remove.add(entry);
    else if (!stripped.equals(parsed.bytes)) {
      remove.add(entry);
      const renewed = deflatedEntry(rawName(entry), stripped);
      after.set(entry, entry === archive.inFile[0] ? { ...renewed, extra: jarMagic(archive) } : renewed);
    }
  }
  return editArchive(archive, { remove, first: [], after });
}

export function filesOf({ signatureFile, blocks }: SignatureFiles): readonly ZipEntry[] {
  return signatureFile === undefined ? blocks : [signatureFile, ...blocks];
}
