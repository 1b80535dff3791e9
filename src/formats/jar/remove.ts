/** Taking every signature out of a JAR: the same files with the same contents, as they were before it was signed. */

import type { Patch } from '../../bytes/patch.ts';
import type { ZipEntry } from '../../zip/directory.ts';
import { editArchive } from '../../zip/edit-archive.ts';
import { deflatedEntry, type NewEntry } from '../../zip/new-entry.ts';
import { formatErrors } from '../errors.ts';
import { jarMagic } from './embed.ts';
import type { JarLayout, SignatureFiles } from './layout.ts';
import { withoutDigests } from './manifest/complete.ts';
import { rawName } from './stamp.ts';

/**
 * Signature files and blocks go, those too that belong to nothing; so does what signing adds to the manifest, which stays
 * in its place, and goes when this program has made it. SIG-* files, which no verifier knows, stay. Throws `not-signed`.
 */
export function removeSignatures({ archive, manifest, signatureFiles }: JarLayout): Patch {
  const remove = new Set([...signatureFiles.values()].flatMap(filesOf));
  if (remove.size === 0) throw formatErrors('not-signed', {});
  const behind = new Map<ZipEntry, NewEntry>();
  if (manifest !== undefined) {
    const { entry, parsed } = manifest;
    const stripped = withoutDigests(parsed);
    if (stripped === undefined) remove.add(entry);
    else if (!stripped.equals(parsed.bytes)) {
      remove.add(entry);
      const renewed = deflatedEntry(rawName(entry), stripped);
      behind.set(entry, entry === archive.inFile[0] ? { ...renewed, extra: jarMagic(archive) } : renewed);
    }
  }
  return editArchive(archive, { remove, first: [], behind });
}

/** All entries that make up one signature, or its remains. */
export function filesOf({ signatureFile, blocks }: SignatureFiles): readonly ZipEntry[] {
  return signatureFile === undefined ? blocks : [signatureFile, ...blocks];
}
