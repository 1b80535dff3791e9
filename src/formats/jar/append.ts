import { isReadableCertificate } from '../../certificates/certificate.ts';
import type { CodesignError } from '../../errors/codesign-error.ts';
import { formatErrors } from '../../format/errors.ts';
import type { ContentDigest, ListedEntry } from './content.ts';
import type { JarLayout } from './layout.ts';
import { coveredNames, createManifestCache, findDisagreement } from './manifest/agreement.ts';
import type { Manifest } from './manifest/manifest.ts';
import type { EmbeddedBlock } from './signature/blocks.ts';

/** Throws `cannot-append` if verifiers would reject an existing signature, so that no new signature is wasted. */
export function checkSignaturesIntact(blocks: readonly EmbeddedBlock[], { manifest }: JarLayout): void {
  const known = manifest && createManifestCache(manifest.parsed);
  for (const block of blocks) {
    const signatureFile = block.readSignatureFile();
    if (manifest === undefined || known === undefined || signatureFile === undefined || !block.verifies()) {
      throw cannotAppend(`the one of "${block.signer.name}" does not verify`);
    }
    if (!block.signedData?.certificates.every(isReadableCertificate)) {
      throw cannotAppend(`a certificate of "${block.signer.name}" cannot be read`);
    }
    if (findDisagreement(signatureFile, manifest.parsed, { known }) !== undefined) {
      throw cannotAppend(`the manifest was changed after "${block.signer.name}" signed it`);
    }
  }
}

export function checkFilesUnchanged(
  blocks: readonly EmbeddedBlock[],
  manifest: Manifest | undefined,
  listed: readonly ListedEntry[],
  digestOf: ContentDigest,
): void {
  const changed = listed.filter(({ digests }, position) =>
    digests.some((digest) => digestOf(position, digest.nodeName) !== manifest?.valueOf(digest)),
  );
  if (changed.length === 0) return;
  for (const block of blocks) {
    const signatureFile = block.readSignatureFile();
    const covered = signatureFile === undefined ? new Set<string>() : coveredNames(signatureFile);
    const found = changed.find(({ entry }) => covered.has(entry.name));
    if (found !== undefined)
      throw cannotAppend(`${found.entry.name} was changed after "${block.signer.name}" signed it`);
  }
}

export function checkManifestAgrees(blocks: readonly EmbeddedBlock[], manifest: Manifest): void {
  const known = createManifestCache(manifest);
  for (const block of blocks) {
    const signatureFile = block.readSignatureFile();
    if (signatureFile === undefined || findDisagreement(signatureFile, manifest, { known }) !== undefined) {
      throw cannotAppend(
        `the digests in the manifest are not enough for the new one, and any other would break that of "${block.signer.name}"`,
      );
    }
  }
}

function cannotAppend(reason: string): CodesignError {
  return formatErrors('cannot-append', { reason });
}
