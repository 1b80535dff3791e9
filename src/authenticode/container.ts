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
  /** The reason why no second signature can be nested in the first, as a clause. */
  readonly reasonForOneSignature?: string;
  entries(): Promise<readonly CmsEntry[]>;
  /** The reason why the entries cannot be changed and rewritten, as a clause. */
  readonly reasonNotRewritable: string | undefined;
  /**
   * Reads the content once, in the form that new signatures cover, that existing signatures cover, or that some other
   * programs sign (`without-metadata`). Returns the values that a signature must contain. For packages, a value is a
   * list of several digests.
   */
  measure(content: 'new' | 'present' | 'without-metadata', algorithms: readonly ContentDigest[]): Promise<Measured>;
  readonly hasFormWithoutMetadata?: boolean;
  content(context: SigningContext, measured: Measured): Promise<SignedContent>;
  compare?(parts: AuthenticodeParts): Promise<readonly Finding[]>;
  /** Returns the edits that make `cms` the only entry. Applying these edits a second time must change nothing. */
  write(cms: Uint8Array, measured: Measured): Patch;
  removeAll(measured: () => Promise<Measured>): Promise<Patch>;
  examine(measured: () => Promise<Measured>): Promise<readonly Finding[]>;
}

export interface SignedKind {
  /** Content type of the CMS in dotted form. Default: `SPC_INDIRECT_DATA`, which all formats except catalogs use. */
  readonly contentType?: string;
  /** Dotted data type in SpcIndirectDataContent. If the content is another structure, this is the content type. */
  readonly dataType: string;
  readonly otherTypes?: readonly string[];
  readonly toleratedType?: string | undefined;
  readonly value?: {
    readonly name: string;
    examine(value: Element | undefined): readonly Finding[];
    describe(value: Element): readonly Detail[];
  };
  /**
   * Describes a content digest that is a list of digests, one line per digest. `actual` is the digest of the file;
   * undefined if it cannot be computed.
   */
  describeDigest?(digest: Uint8Array, algorithm: DigestAlgorithm, actual: Uint8Array | undefined): readonly Detail[];
}

export interface CmsEntry {
  /** Display name, unique in the file. */
  readonly location: string;
  readonly cms: Uint8Array | undefined;
  examine(): Promise<readonly Finding[]>;
}

export interface MeasuredContent {
  readonly digests: ReadonlyMap<ContentDigest, Uint8Array>;
}

export interface SignedContent {
  readonly type: string;
  /** The digest excludes the tag and length of this DER value. */
  readonly value: Uint8Array;
}

export function digestIn({ digests }: MeasuredContent, algorithm: DigestAlgorithm): Uint8Array {
  const digest = digests.get(algorithm);
  if (digest === undefined) throw new TypeError(`the content was not digested by ${algorithm}`);
  return digest;
}
