/** The signatures that are in a JAR already, and whether archive and signature still agree. */

import type { ByteSource } from '../../bytes/byte-source.ts';
import { CodesignError } from '../../errors/codesign-error.ts';
import type { DigestEntries } from '../../zip/entry-digests.ts';
import type { EmbeddedSignature } from '../format.ts';
import { agrees, coveredNames } from './agreement.ts';
import { type EmbeddedBlock, readBlocks } from './blocks.ts';
import { digestContents, listEntries } from './content.ts';
import { isFileName, type JarLayout } from './layout.ts';
import { type Manifest, sectionsByName } from './manifest.ts';

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
export function coversArchive(block: EmbeddedBlock, { manifest, signable }: JarLayout): boolean {
  const signatureFile = block.readSignatureFile();
  if (manifest === undefined || signatureFile === undefined || !block.verifies()) return false;
  if (!agrees(signatureFile, manifest.parsed)) return false;
  const covered = coveredNames(signatureFile);
  const present = new Set(signable.map(({ name }) => name));
  return (
    signable.every(({ name }) => covered.has(name)) &&
    [...covered].every((name) => present.has(name) || !isFileName(name))
  );
}

/** Whether every file has a digest in the manifest, and all of those are right. Damaged contents are not. */
export async function contentsMatch(
  source: ByteSource,
  signable: JarLayout['signable'],
  manifest: Manifest,
  digestEntries: DigestEntries,
): Promise<boolean> {
  const listed = listEntries(signable, sectionsByName(manifest));
  if (listed.some(({ digests }) => digests.length === 0)) return false;
  try {
    const digestOf = await digestContents(source, listed, digestEntries);
    return listed.every(({ digests }, position) =>
      digests.every(({ nodeName, value }) => digestOf(position, nodeName) === value),
    );
  } catch (thrown) {
    if (thrown instanceof CodesignError && thrown.code === 'zip-entry-damaged') return false;
    throw thrown;
  }
}

/** Reads the contents once, on the first question. */
function contentOnce(
  source: ByteSource,
  { manifest, signable }: JarLayout,
  digestEntries: DigestEntries,
): () => Promise<boolean> {
  let matching: Promise<boolean> | undefined;
  return async () => {
    matching ??= manifest ? contentsMatch(source, signable, manifest.parsed, digestEntries) : Promise.resolve(false);
    return await matching;
  };
}
