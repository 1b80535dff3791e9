/** Defines the differences between the formats of Authenticode. */

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
  readonly warnings?: readonly string[];
  /** Clause for a message that explains why no second signature can be nested in the first. */
  readonly reasonForOneSignature?: string;
  entries(): Promise<readonly CmsEntry[]>;
  readonly reasonNotRewritable?: string | undefined;
  /**
   * Reads the content once, either as new signatures digest it, as existing signatures digest it, or
   * `without-metadata`, as some programs do. The digest of a package consists of several digests.
   */
  measure(content: 'new' | 'present' | 'without-metadata', algorithms: readonly ContentDigest[]): Promise<Measured>;
  readonly hasFormWithoutMetadata?: boolean;
  content(context: SigningContext, measured: Measured): Promise<SignedContent>;
  compare?(parts: AuthenticodeParts): Promise<readonly Finding[]>;
  /** Makes `cms` the only entry. A second call with the same value must change nothing. */
  write(cms: Uint8Array, measured: Measured): Patch;
  removeAll(measured: () => Promise<Measured>): Promise<Patch>;
  examine?(measured: () => Promise<Measured>): Promise<readonly Finding[]>;
}

export interface SignedKind {
  /** Content type of the CMS signature. Default: `SPC_INDIRECT_DATA`, as in all formats except catalogs. */
  readonly contentType?: string;
  /** Data type in SpcIndirectDataContent, or the content type of another structure. */
  readonly dataType: string;
  readonly otherTypes?: readonly string[];
  readonly toleratedType?: string | undefined;
  readonly value?: {
    readonly name: string;
    examine(value: Element | undefined): readonly Finding[];
    describe(value: Element): readonly Detail[];
  };
  /**
   * Returns one line for each digest if the value consists of several digests. `actual` is undefined if the digest of
   * the file cannot be computed.
   */
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

export interface SignedContent {
  readonly type: string;
  /** DER. The digest excludes the tag and the length. */
  readonly value: Uint8Array;
}

export function digestIn({ digests }: MeasuredContent, algorithm: DigestAlgorithm): Uint8Array {
  const digest = digests.get(algorithm);
  if (digest === undefined) throw new TypeError(`the content was not digested by ${algorithm}`);
  return digest;
}
