/** The walk of one file through a format, in memory and with a key at hand: prepare, sign, seal, embed, check. */

import { memorySource } from '../../../../src/bytes/byte-source.ts';
import type { DigestAlgorithm } from '../../../../src/crypto/algorithms.ts';
import type { Format } from '../../../../src/format/format.ts';
import type { Embedding, SigningMode } from '../../../../src/format/signable-file.ts';
import { cmsEnvelope } from '../../../../src/format/signature.ts';
import { contentReader } from '../../../../src/formats/recognise.ts';
import { checkPlaced } from '../../../../src/signing/changes/attach.ts';
import { verifyContents } from '../../../../src/signing/files/contained.ts';
import { digestEntries } from '../../../../src/zip/entry-digests.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import type { ThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { applyPatch } from './apply-patch.ts';
import { checkIn, placeIn, rulesOf, sealedBy, signingIn } from './change.ts';
import { withSignedContents } from './signed-contents.ts';

/** What `codesign-remote attach` makes of the file. Throws `not-its-signature` and what else it throws. */
export async function attachBytes(format: Format, bytes: Buffer, cms: Uint8Array, name?: string): Promise<Buffer> {
  const embedding = await placeIn(await openBytes(format, bytes, name), cmsEnvelope(cms));
  const result = applyPatch(bytes, embedding.patch);
  await checkPlaced(await openBytes(format, result, name), format, embedding);
  return result;
}

export interface SignBytesOptions {
  readonly algorithm?: DigestAlgorithm;
  readonly mode?: SigningMode;
  readonly description?: string;
  readonly url?: string;
  readonly signerName?: string;
  readonly innerPackages?: boolean;
  readonly pageHashes?: boolean;
  readonly field?: string;
  readonly certify?: string;
  readonly reason?: string;
  readonly token?: Uint8Array | undefined;
  /** Also what `check` rejects: a package for another publisher, for example. */
  readonly unchecked?: boolean;
  /** Of the file. */
  readonly name?: string;
}

export interface SignedBytes {
  readonly result: Buffer;
  readonly digest: Uint8Array;
  readonly sealed: Uint8Array;
  readonly embedding: Embedding;
}

/** Digesting with nothing known beforehand. */
export const plainReader = () => contentReader(digestEntries);

/** The name has the format's first extension, if none is given. */
export function openBytes(format: Format, bytes: Uint8Array, name = `test${format.extensions[0]}`) {
  return format.open(memorySource(bytes), plainReader(), name);
}

export async function signBytes(
  format: Format,
  bytes: Uint8Array,
  signer: ThrowawaySigner,
  { algorithm: given, mode = rulesOf(format).modes[0], name, token, unchecked = false, ...info }: SignBytesOptions = {},
): Promise<SignedBytes> {
  const file = await openBytes(format, bytes, name);
  const algorithm = given ?? signingIn(file).fixedAlgorithm?.algorithm ?? 'SHA256';
  const timestampAlgorithm = token && 'SHA256';
  const context = signingContext({ algorithm, chain: signer.chain, timestampAlgorithm }, { wsh: true, ...info });
  if (!unchecked) await checkIn(file, format, context, mode);
  const contents = await withSignedContents(format, file, bytes, context, signer, token);
  const prepared = await signingIn(contents.file).prepare(context, mode);
  const sealed = sealedBy(signer, prepared, token);
  const { patch, ...expected } = prepared.embed(sealed);
  const embedding = { ...expected, patch: contents.original(patch) };
  const result = applyPatch(bytes, embedding.patch);
  const reopened = await openBytes(format, result, name);
  await signingIn(reopened).verify(embedding);
  await verifyContents(reopened, contents.toChange, contents.inner, { digestEntries });
  return { result, sealed: sealed[0].bytes, embedding, digest: prepared.units[0].digest };
}
