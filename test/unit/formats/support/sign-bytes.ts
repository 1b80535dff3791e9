/** The walk of one file through a format, in memory and with a key at hand: prepare, sign, seal, embed, check. */

import { memorySource } from '../../../../src/bytes/byte-source.ts';
import type { DigestAlgorithm } from '../../../../src/crypto/algorithms.ts';
import { contentReader } from '../../../../src/formats/content-reader.ts';
import type { Embedding, Format, SigningMode } from '../../../../src/formats/format.ts';
import { digestEntries } from '../../../../src/zip/entry-digests.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import type { ThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { applyPatch } from './apply-patch.ts';

export interface SignBytesOptions {
  readonly algorithm?: DigestAlgorithm;
  readonly mode?: SigningMode;
  readonly description?: string;
  readonly url?: string;
  readonly signerName?: string;
  /** Announced as so many bytes before anything is digested. */
  readonly token?: Uint8Array | undefined;
  readonly tokenReserve?: number | undefined;
}

export interface SignedBytes {
  readonly result: Buffer;
  readonly toBeSigned: Uint8Array;
  readonly sealed: Uint8Array;
  readonly embedding: Embedding;
}

/** Digesting with nothing known beforehand. */
export const plainReader = () => contentReader(digestEntries);

export function openBytes(format: Format, bytes: Uint8Array, name = 'test.jar') {
  return format.open(memorySource(bytes), plainReader(), name);
}

export async function signBytes(
  format: Format,
  bytes: Uint8Array,
  signer: ThrowawaySigner,
  { algorithm = 'SHA256', mode = 'replace', token, tokenReserve = token?.length, ...info }: SignBytesOptions = {},
): Promise<SignedBytes> {
  const file = await openBytes(format, bytes);
  const prepared = await file.prepare(
    signingContext({ algorithm, chain: signer.chain, tokenReserve }, { allowUnsignedResult: true, ...info }),
    mode,
  );
  const sealed = prepared.seal(signer.sign(prepared.toBeSigned, algorithm), token);
  const embedding = prepared.embed(sealed);
  const result = applyPatch(bytes, embedding.patch);
  await (await openBytes(format, result)).verifyResult(embedding);
  return { result, sealed: sealed.bytes, embedding, toBeSigned: prepared.toBeSigned };
}
