/** What `sign --inner-packages` does with the files in a container, in memory and with a key at hand. */

import { memorySource } from '../../../../src/bytes/byte-source.ts';
import type { Patch } from '../../../../src/bytes/pieces.ts';
import type { Format } from '../../../../src/format/format.ts';
import type { Embedding, SignableFile, SigningContext } from '../../../../src/format/signable-file.ts';
import { contentReader } from '../../../../src/formats/recognise.ts';
import { changeContents, containedFiles, prepareContained } from '../../../../src/signing/files/contained.ts';
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
  for (const one of (await containedFiles(opened, context, format, run)).toSign) {
    const its = await prepareContained(one, context, format, run);
    inner.set(one.name, its.embed(sealedBy(signer, its, token)));
  }
  if (inner.size === 0) return { file: opened, original: (patch: Patch) => patch, inner };
  const patches = new Map(Array.from(inner, ([name, { patch }]) => [name, patch]));
  const changed = await changeContents(opened, memorySource(bytes), patches);
  const file = await format.open(changed, contentReader(digestEntries), `test${format.extensions[0]}`);
  return { file, original: changed.compose, inner };
}
