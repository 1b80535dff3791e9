/** What the signature of an installer file covers: the content of its streams, and a digest of what its directory says. */

import { createHash } from 'node:crypto';
import type { Piece } from '../../bytes/pieces.ts';
import { lazyPieces } from '../../bytes/pieces.ts';
import type { CompoundNode, CompoundStorage } from '../../compound-file/format.ts';
import { compareNames } from '../../compound-file/names.ts';
import { malformed } from '../../compound-file/sectors.ts';
import { type DigestAlgorithm, NODE_DIGEST_NAME } from '../../crypto/algorithms.ts';
import type { Content } from '../../crypto/content.ts';

export const SIGNATURE_STREAM = '\x05DigitalSignature';
/** A digest of names, sizes and times, in front of the content. */
export const METADATA_STREAM = '\x05MsiDigitalSignatureEx';

/** In SpcSipInfo. signtool writes 2, all other programs 1. */
export const SIP_VERSION = { withoutMetadata: 1, withMetadata: 2 } as const;

const SIGNATURE_STREAMS: readonly Uint8Array[] = [SIGNATURE_STREAM, METADATA_STREAM].map((name) =>
  Buffer.from(name, 'utf16le'),
);

/**
 * The root without the two streams of a signature. Streams of these names in other storages are content. Throws
 * `compound-file-malformed` for a storage of such a name, and for one in other case, which a reader takes for the same.
 */
export function withoutSignature(root: CompoundStorage): CompoundStorage {
  const isSignature = ({ kind, name }: CompoundNode): boolean => {
    const known = SIGNATURE_STREAMS.find((each) => compareNames(each, name) === 0);
    if (known === undefined) return false;
    if (kind === 'stream' && Buffer.compare(known, name) === 0) return true;
    throw malformed('a storage, or a stream in other case, has the name of the signature');
  };
  return { ...root, children: root.children.filter((child) => !isSignature(child)) };
}

/** `root`: without the streams of a signature. `metadata`: the contents of the stream with the digest of metadata. */
export function contentOf(root: CompoundStorage, metadata: Iterable<Piece>): Content {
  return lazyPieces(function* () {
    yield* metadata;
    yield* streamsOf(root);
  });
}

/** After what is in a storage comes its CLSID. */
function* streamsOf(storage: CompoundStorage): Generator<Piece> {
  for (const child of byName(storage)) {
    if (child.kind === 'storage') yield* streamsOf(child);
    else yield* child.content;
  }
  yield clsidOf(storage);
}

/** The contents of MsiDigitalSignatureEx as signtool writes it. */
export function digestMetadata(root: CompoundStorage, algorithm: DigestAlgorithm): Uint8Array {
  const hash = createHash(NODE_DIGEST_NAME[algorithm]);
  const add = (storage: CompoundStorage): void => {
    for (const child of byName(storage)) {
      hash.update(child.name);
      hash.update(child.kind === 'storage' ? clsidOf(child) : child.entry.subarray(120, 124));
      // State bits, time of creation, time of the last change.
      hash.update(child.entry.subarray(96, 116));
      if (child.kind === 'storage') add(child);
    }
  };
  hash.update(clsidOf(root));
  hash.update(root.entry.subarray(96, 100));
  add(root);
  return hash.digest();
}

/** By the bytes of the names, not by code units, and not in the order of the directory's tree. */
function byName({ children }: CompoundStorage): readonly CompoundNode[] {
  return children.toSorted((a, b) => Buffer.compare(a.name, b.name));
}

function clsidOf({ entry }: CompoundStorage): Uint8Array {
  return entry.subarray(80, 96);
}
