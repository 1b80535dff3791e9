/**
 * The content that the signature of an installer file covers: its streams, and a digest of the metadata in the
 * directory.
 */

import { createHash } from 'node:crypto';
import { lazyPieces, type Piece } from '../../bytes/pieces.ts';
import { type CompoundNode, type CompoundStorage, compareNames } from '../../compound-file/format.ts';
import { malformed } from '../../compound-file/sectors.ts';
import { type DigestAlgorithm, NODE_DIGEST_NAME } from '../../crypto/algorithms.ts';
import type { Content } from '../../crypto/measure-content.ts';

export const SIGNATURE_STREAM = '\x05DigitalSignature';
/**
 * This stream contains a digest of names, sizes and times, which is included in the signed digest before the other
 * streams.
 */
export const METADATA_STREAM = '\x05MsiDigitalSignatureEx';

/** Version in SpcSipInfo. signtool writes 2, and all other signing programs write 1. */
export const SIP_VERSION = { withoutMetadata: 1, withMetadata: 2 } as const;

const SIGNATURE_STREAMS: readonly Uint8Array[] = [SIGNATURE_STREAM, METADATA_STREAM].map((name) =>
  Buffer.from(name, 'utf16le'),
);

/**
 * Returns the root storage without the two streams of a signature. Streams with the same names in other storages are
 * part of the signed content. Throws `file-malformed` if a storage has one of these names, or if another name
 * differs from one of them only in case.
 */
export function withoutSignature(root: CompoundStorage): CompoundStorage {
  const isSignature = ({ kind, name }: CompoundNode): boolean => {
    const known = SIGNATURE_STREAMS.find((each) => compareNames(each, name) === 0);
    if (known === undefined) return false;
    if (kind === 'stream' && Buffer.compare(known, name) === 0) return true;
    throw malformed('a storage, or a stream in a different case, has the name of the signature');
  };
  return { ...root, children: root.children.filter((child) => !isSignature(child)) };
}

export function contentOf(root: CompoundStorage, metadata: Iterable<Piece>): Content {
  return lazyPieces(function* () {
    yield* metadata;
    yield* streamsOf(root);
  });
}

/** The CLSID of a storage is digested after the contents of the storage. */
function* streamsOf(storage: CompoundStorage): Generator<Piece> {
  for (const child of byName(storage)) {
    if (child.kind === 'storage') yield* streamsOf(child);
    else yield* child.content;
  }
  yield clsidOf(storage);
}

/** Returns the contents of the stream MsiDigitalSignatureEx as signtool writes them. */
export function digestMetadata(root: CompoundStorage, algorithm: DigestAlgorithm): Uint8Array {
  const hash = createHash(NODE_DIGEST_NAME[algorithm]);
  const add = (storage: CompoundStorage): void => {
    for (const child of byName(storage)) {
      hash.update(child.name);
      hash.update(child.kind === 'storage' ? clsidOf(child) : child.entry.subarray(120, 124));
      // State bits, creation time, and time of the last modification.
      hash.update(child.entry.subarray(96, 116));
      if (child.kind === 'storage') add(child);
    }
  };
  hash.update(clsidOf(root));
  hash.update(root.entry.subarray(96, 100));
  add(root);
  return hash.digest();
}

/** Sorts names by their bytes, although the directory tree is sorted by code units. */
function byName({ children }: CompoundStorage): readonly CompoundNode[] {
  return children.toSorted((a, b) => Buffer.compare(a.name, b.name));
}

function clsidOf({ entry }: CompoundStorage): Uint8Array {
  return entry.subarray(80, 96);
}
