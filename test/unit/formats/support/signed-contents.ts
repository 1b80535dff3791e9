/** What `sign --inner-packages` does with the files in a container, in memory and with a key at hand. */

import { memorySource } from '../../../../src/bytes/byte-source.ts';
import { patchedSource } from '../../../../src/bytes/patched-source.ts';
import type { Patch } from '../../../../src/bytes/pieces.ts';
import type { Format } from '../../../../src/format/format.ts';
import type { Embedding, SignableFile, Signing, SigningContext } from '../../../../src/format/signable-file.ts';
import { contentReader } from '../../../../src/formats/recognise.ts';
import { changeContents, contextFor, innerPackages } from '../../../../src/signing/files/contained.ts';
import { type InnerFile, innerName } from '../../../../src/signing/files/inner-files.ts';
import { digestEntries } from '../../../../src/zip/entry-digests.ts';
import { sealedBy } from './change.ts';

const run = { digestEntries };

/** `file`: the container with the signed files. `original`: edits of it as edits of the bytes. */
export async function withSignedContents(
  format: Format,
  opened: SignableFile,
  bytes: Uint8Array,
  context: SigningContext,
  signer: Parameters<typeof sealedBy>[0],
  token?: Uint8Array,
) {
  const inner = new Map<string, Embedding>();
  const { toChange } = await innerPackages(opened, context, format, run);
  if (toChange.length === 0) return { file: opened, original: (patch: Patch) => patch, inner, toChange };
  const sign = async (one: InnerFile, signing: Signing): Promise<Embedding> => {
    const its = await signing.prepare(contextFor(signing, context), 'replace');
    const embedding = its.embed(sealedBy(signer, its, token));
    inner.set(innerName(one), embedding);
    return embedding;
  };
  const changed = patchedSource(memorySource(bytes), await changeContents(opened, toChange, sign, run));
  const file = await format.open(changed, contentReader(digestEntries), `test${format.extensions[0]}`);
  return { file, original: changed.compose, inner, toChange };
}
