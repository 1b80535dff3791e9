/** The part of Authenticode signatures that differs between file formats. `authenticodeFile` has the common part. */

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
  /** About signing the file. */
  readonly warnings: readonly string[];
  /** Set if no second signature can be nested in the first: the reason, as a clause. */
  readonly reasonForOneSignature?: string;
  /** All entries in a place for signatures, readable or not, in file order. */
  entries(): Promise<readonly CmsEntry[]>;
  /** Set if the entries cannot be changed and written again: the reason, as a clause. */
  readonly reasonNotRewritable: string | undefined;
  /**
   * Reads the content once. `new`: as a new signature covers it. `present`: as the signatures in the file cover it.
   * `without-metadata`: as signatures of some other programs cover it, which can also be attached (only if `hasFormWithoutMetadata`). Returns
   * the values that a signature must contain; for packages, the list of several digests.
   */
  measure(content: 'new' | 'present' | 'without-metadata', algorithms: readonly ContentDigest[]): Promise<Measured>;
  readonly hasFormWithoutMetadata?: boolean;
  /** The content of a new signature: `spcContent`, or the format's own, such as the list in a catalog. */
  content(context: SigningContext, measured: Measured): Promise<SignedContent>;
  /** Compares other claims of the signature with the file, such as page hashes. */
  compare?(parts: AuthenticodeParts): Promise<readonly Finding[]>;
  /** Returns the edits that make `cms` the only entry. Applied to its own result, it changes nothing. */
  write(cms: Uint8Array, measured: Measured): Patch;
  /** Returns the edits that remove all entries. Throws `not-signed`. */
  removeAll(measured: () => Promise<Measured>): Promise<Patch>;
  examine(measured: () => Promise<Measured>): Promise<readonly Finding[]>;
}

export interface SignedKind {
  /** Content type of the CMS in dotted form. Default: `SPC_INDIRECT_DATA`, as in all formats except catalogs. */
  readonly contentType?: string;
  /** Data type in SpcIndirectDataContent, or the content type if the content is another structure; dotted. */
  readonly dataType: string;
  /** Other data types in valid signatures of such files. */
  readonly otherTypes?: readonly string[];
  /** Wrong data type that some signing programs write for such files, and that Windows accepts. */
  readonly toleratedType?: string | undefined;
  /** The value that accompanies the data type. */
  readonly value?: {
    /** Display name, such as `image data`. */
    readonly name: string;
    examine(value: Element | undefined): readonly Finding[];
    /** Throws the errors of ASN.1 readers. */
    describe(value: Element): readonly Detail[];
  };
  /**
   * Describes a content digest that is a list of digests, one line for each. `actual` is the digest of the file;
   * undefined if it cannot be computed.
   */
  describeDigest?(digest: Uint8Array, algorithm: DigestAlgorithm, actual: Uint8Array | undefined): readonly Detail[];
}

export interface CmsEntry {
  /** Display name, unique in the file. */
  readonly location: string;
  /** undefined if the entry is too long to be a CMS. */
  readonly cms: Uint8Array | undefined;
  /** Examines how it is stored: for example, whether bytes are hidden after it. */
  examine(): Promise<readonly Finding[]>;
}

export interface MeasuredContent {
  readonly digests: ReadonlyMap<ContentDigest, Uint8Array>;
}

export interface SignedContent {
  readonly type: string;
  /** DER. The digest does not include the tag and length. */
  readonly value: Uint8Array;
}

/** A missing digest is a bug in this program, not an error in the file. */
export function digestIn({ digests }: MeasuredContent, algorithm: DigestAlgorithm): Uint8Array {
  const digest = digests.get(algorithm);
  if (digest === undefined) throw new TypeError(`the content was not digested by ${algorithm}`);
  return digest;
}
