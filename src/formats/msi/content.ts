import { createHash } from 'node:crypto';
import { lazyPieces, type Piece } from '../../bytes/pieces.ts';
import { type CompoundNode, type CompoundStorage, compareNames } from '../../compound-file/format.ts';
import { malformed } from '../../compound-file/sectors.ts';
import { type DigestAlgorithm, NODE_DIGEST_NAME } from '../../crypto/algorithms.ts';
import type { Content } from '../../crypto/measure-content.ts';

export const SIGNATURE_STREAM = '\x05DigitalSignature';
/** This stream contains a digest of names, sizes and times. The signed digest covers this stream before all others. */
export const METADATA_STREAM = '\x05MsiDigitalSignatureEx';

/** Versions of SpcSipInfo. signtool writes 2, and all other signing programs write 1. */
export const SIP_VERSION = { withoutMetadata: 1, withMetadata: 2 } as const;

const SIGNATURE_STREAMS: readonly Uint8Array[] = [SIGNATURE_STREAM, METADATA_STREAM].map((name) =>
  Buffer.from(name, 'utf16le'),
);

/**
 * Removes the two streams of a signature from the root storage. Throws `file-malformed` if a storage has one of their
 * names, or if another name differs from them only in case.
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

function* streamsOf(storage: CompoundStorage): Generator<Piece> {
  for (const child of byName(storage)) {
    if (child.kind === 'storage') yield* streamsOf(child);
    else yield* child.content;
  }
  yield clsidOf(storage);
}

/** Returns the content of the stream MsiDigitalSignatureEx, as signtool writes it. */
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

/** Sorts by the bytes of the names. The directory is sorted by code units. */
function byName({ children }: CompoundStorage): readonly CompoundNode[] {
  return children.toSorted((a, b) => Buffer.compare(a.name, b.name));
}

function clsidOf({ entry }: CompoundStorage): Uint8Array {
  return entry.subarray(80, 96);
}
