import type { Element } from '../asn1/read.ts';
import type { ByteSource } from '../bytes/byte-source.ts';
import type { Patch } from '../bytes/pieces.ts';
import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import type { ContentDigest } from '../crypto/measure-content.ts';
import type { Finding } from '../errors/finding.ts';
import type { SigningContext } from '../format/signable-file.ts';
import type { Detail } from '../format/signature.ts';
import type { AuthenticodeParts } from './read-authenticode.ts';
import type { SpcData } from './spc-structures.ts';

/** States where the signatures of an Authenticode format are stored, and what they cover. */
export interface Container<Measured extends MeasuredContent = MeasuredContent> {
  readonly source: ByteSource;
  readonly kind: SignedKind;
  readonly warnings?: readonly string[];
  /** A clause that explains why no second signature can be nested in the first one. */
  readonly reasonForOneSignature?: string;
  readonly entries: readonly CmsEntry[];
  readonly reasonNotRewritable?: string | undefined;
  /**
   * Digests the content once, in the form that `new` signatures or the `present` ones cover. Some programs sign
   * installers without a digest of their metadata (`without-metadata`).
   */
  measure(content: 'new' | 'present' | 'without-metadata', algorithms: readonly ContentDigest[]): Promise<Measured>;
  readonly hasFormWithoutMetadata?: boolean;
  /** Describes the type of the file in SpcIndirectData. For a catalog, returns its list, which is signed directly. */
  content(context: SigningContext, measured: Measured): Promise<SpcData>;
  compare?(parts: AuthenticodeParts): Promise<readonly Finding[]>;
  /** Makes `cms` the only signature in the file. Writing the same signature again must change nothing. */
  write(cms: Uint8Array, measured: Measured): Patch;
  /** Returns undefined if the file contains no signature. */
  removeAll(measured: () => Promise<Measured>): Promise<Patch | undefined>;
  examine?(measured: () => Promise<Measured>): Promise<readonly Finding[]>;
}

export interface SignedKind {
  /** Content type of the CMS signature. Only catalogs use a type other than the default `SPC_INDIRECT_DATA`. */
  readonly contentType?: string;
  readonly dataType: string;
  readonly otherTypes?: readonly string[];
  readonly toleratedType?: string | undefined;
  readonly value?: {
    readonly name: string;
    examine(value: Element | undefined): readonly Finding[];
    describe(value: Element): readonly Detail[];
  };
  /** Lists the digests if `digest` consists of several. `actual` is undefined if it cannot be computed. */
  describeDigest?(digest: Uint8Array, algorithm: DigestAlgorithm, actual: Uint8Array | undefined): readonly Detail[];
}

export interface CmsEntry {
  readonly location: string;
  readonly cms: Uint8Array | undefined;
  examine?(): readonly Finding[];
}

export interface MeasuredContent {
  readonly digests: ReadonlyMap<ContentDigest, Uint8Array>;
}

export function digestIn({ digests }: MeasuredContent, algorithm: DigestAlgorithm): Uint8Array {
  const digest = digests.get(algorithm);
  if (digest === undefined) throw new TypeError(`the content was not digested by ${algorithm}`);
  return digest;
}
