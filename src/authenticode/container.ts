/** The part of Authenticode that differs between file formats. */

import type { Element } from '../asn1/read.ts';
import type { ByteSource } from '../bytes/byte-source.ts';
import type { Patch } from '../bytes/pieces.ts';
import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import type { ContentDigest } from '../crypto/measure-content.ts';
import type { Finding } from '../errors/finding.ts';
import type { SigningContext } from '../format/signable-file.ts';
import type { Detail } from '../format/signature.ts';
import type { AuthenticodeParts } from './read-authenticode.ts';

export interface Container<Measured extends MeasuredContent = MeasuredContent> {
  readonly source: ByteSource;
  readonly kind: SignedKind;
  readonly warnings: readonly string[];
  /** States, as a clause, why no second signature can be nested in the first. */
  readonly reasonForOneSignature?: string;
  entries(): Promise<readonly CmsEntry[]>;
  /** States, as a clause, why the entries cannot be changed and rewritten. */
  readonly reasonNotRewritable: string | undefined;
  /**
   * Reads the content once, in the form that `content` selects: that of new signatures, that of existing ones, or
   * `without-metadata`, which some programs sign. Returns the values that a signature must contain. For packages, a
   * value consists of several digests.
   */
  measure(content: 'new' | 'present' | 'without-metadata', algorithms: readonly ContentDigest[]): Promise<Measured>;
  readonly hasFormWithoutMetadata?: boolean;
  content(context: SigningContext, measured: Measured): Promise<SignedContent>;
  compare?(parts: AuthenticodeParts): Promise<readonly Finding[]>;
  /**
   * Returns the edits after which `cms` is the file's only entry. Applying these edits a second time must change
   * nothing.
   */
  write(cms: Uint8Array, measured: Measured): Patch;
  removeAll(measured: () => Promise<Measured>): Promise<Patch>;
  examine(measured: () => Promise<Measured>): Promise<readonly Finding[]>;
}

export interface SignedKind {
  /**
   * Content type of the CMS as a dotted object identifier. Default: `SPC_INDIRECT_DATA`, which all formats except
   * catalogs use.
   */
  readonly contentType?: string;
  /**
   * Data type in SpcIndirectDataContent, as a dotted object identifier. If the content is a different structure, this
   * is the content type.
   */
  readonly dataType: string;
  readonly otherTypes?: readonly string[];
  readonly toleratedType?: string | undefined;
  readonly value?: {
    readonly name: string;
    examine(value: Element | undefined): readonly Finding[];
    describe(value: Element): readonly Detail[];
  };
  /**
   * Describes a content digest that consists of several digests, one line per digest. `actual` is the digest of the
   * file; undefined if it cannot be computed.
   */
  describeDigest?(digest: Uint8Array, algorithm: DigestAlgorithm, actual: Uint8Array | undefined): readonly Detail[];
}

export interface CmsEntry {
  /** Display name, which is unique in the file. */
  readonly location: string;
  readonly cms: Uint8Array | undefined;
  examine(): Promise<readonly Finding[]>;
}

export interface MeasuredContent {
  readonly digests: ReadonlyMap<ContentDigest, Uint8Array>;
}

export interface SignedContent {
  readonly type: string;
  /** The digest excludes the tag and the length of this DER value. */
  readonly value: Uint8Array;
}

export function digestIn({ digests }: MeasuredContent, algorithm: DigestAlgorithm): Uint8Array {
  const digest = digests.get(algorithm);
  if (digest === undefined) throw new TypeError(`the content was not digested by ${algorithm}`);
  return digest;
}
