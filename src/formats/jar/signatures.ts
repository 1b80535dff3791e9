/** The signatures that are in a JAR already, and whether archive and signature still agree. */

import type { ByteSource } from '../../bytes/byte-source.ts';
import type { DigestEntries } from '../../zip/entry-digests.ts';
import type { EmbeddedSignature } from '../format.ts';
import { agrees } from './agreement.ts';
import { type EmbeddedBlock, readBlocks } from './blocks.ts';
import { contentsMatch } from './content.ts';
import { isFileName, type JarLayout } from './layout.ts';

/** One for each block that has a signature file. One that cannot be read is listed as such. */
export async function readSignatures(
  source: ByteSource,
  layout: JarLayout,
  digestEntries: DigestEntries,
): Promise<readonly EmbeddedSignature[]> {
  const content = contentOnce(source, layout, digestEntries);
  return (await readBlocks(source, layout)).map((block) => ({
    cms: block.cms,
    signerCertificate: block.signerCertificate,
    signerName: block.signerName,
    nested: [],
    isIntact: async () => coversArchive(block, layout) && (await content()),
  }));
}

/** Whether block, signature file and manifest agree, about every file of the archive and no other. Not whether the contents do. */
export function coversArchive(block: EmbeddedBlock, { archive, manifest, signable }: JarLayout): boolean {
  const signatureFile = block.readSignatureFile();
  if (manifest === undefined || signatureFile === undefined || !block.verifies()) return false;
  if (!agrees(signatureFile, manifest.parsed)) return false;
  const isCovered = new Uint8Array(archive.entries.length);
  for (const { name } of signatureFile.sections()) {
    const entry = archive.byName.get(name);
    if (entry !== undefined) isCovered[entry.index] = 1;
    else if (isFileName(name)) return false;
  }
  return signable.every(({ index }) => isCovered[index] === 1);
}

/** Reads the contents once, on the first question. */
function contentOnce(source: ByteSource, layout: JarLayout, digestEntries: DigestEntries): () => Promise<boolean> {
  let matching: Promise<boolean> | undefined;
  return async () => {
    matching ??= contentsMatch(source, layout, digestEntries);
    return await matching;
  };
}
