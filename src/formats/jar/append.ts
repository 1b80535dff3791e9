import type { CodesignError } from '../../errors/codesign-error.ts';
import { formatErrors } from '../../format/errors.ts';
import { createManifestCache, findDisagreement } from './manifest/agreement.ts';
import type { Manifest } from './manifest/manifest.ts';
import type { EmbeddedBlock } from './signature/blocks.ts';

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
