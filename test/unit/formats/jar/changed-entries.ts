/** Signed JARs whose contents were changed afterwards: the archives are sound, only the signature no longer fits. */

import { memorySource } from '../../../../src/bytes/byte-source.ts';
import { readArchive } from '../../../../src/zip/archive.ts';
import { isDirectory } from '../../../../src/zip/directory.ts';
import { editArchive } from '../../../../src/zip/edit-archive.ts';
import { storedEntry } from '../../../../src/zip/write-records.ts';
import { applyPatch } from '../support/apply-patch.ts';

/** The first and the last file that a signature covers, each with other contents; none for an archive without any. */
export async function changedEntries(result: Buffer): Promise<readonly Buffer[]> {
  const archive = await readArchive(memorySource(result));
  const files = archive.entries.filter((entry) => !isDirectory(entry) && !/^meta-inf\/[^/]*$/i.test(entry.name));
  const chosen = new Set([files[0], files.at(-1)].filter((entry) => entry !== undefined));
  return [...chosen].map((entry) => {
    const name = Buffer.from(entry.name).toString('latin1');
    const first = [storedEntry(name, Buffer.from('other contents'))];
    return applyPatch(result, editArchive(archive, { remove: new Set([entry]), first }));
  });
}
