/** The walk of one file through a format, read from disk as signing does; the result stays in memory. */

import { open } from 'node:fs/promises';
import { fileSource } from '../../../src/bytes/file-source.ts';
import type { DigestAlgorithm } from '../../../src/crypto/algorithms.ts';
import type { Format } from '../../../src/format/format.ts';
import type { SigningMode } from '../../../src/format/signable-file.ts';
import { signingContext } from '../../support/signed-files/signing-context.ts';
import type { ThrowawaySigner } from '../../support/signed-files/throwaway-signer.ts';
import { applyPatch } from '../../unit/formats/support/apply-patch.ts';
import { sealedBy, signingIn } from '../../unit/formats/support/change.ts';
import { openBytes, plainReader } from '../../unit/formats/support/sign-bytes.ts';

export interface SignFromDiskOptions {
  readonly algorithm?: DigestAlgorithm;
  readonly mode?: SigningMode;
}

export async function signFromDisk(
  format: Format,
  file: string,
  signer: ThrowawaySigner,
  { algorithm = 'SHA256', mode = 'replace' }: SignFromDiskOptions = {},
): Promise<Buffer> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const source = fileSource(handle, size);
    const opened = await format.open(source, plainReader(), 'test.jar');
    const prepared = await signingIn(opened).prepare(signingContext({ algorithm, chain: signer.chain }), mode);
    const embedding = prepared.embed(sealedBy(signer, prepared));
    const result = applyPatch(await source.read(0, size), embedding.patch);
    await signingIn(await openBytes(format, result)).verify(embedding);
    return result;
  } finally {
    await handle.close();
  }
}
