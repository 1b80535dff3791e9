/** What a file that holds Authenticode signatures must provide. Everything else is the same for all of them: `authenticodeFile`. */

import type { Element } from '../asn1/read.ts';
import type { ByteSource } from '../bytes/byte-source.ts';
import type { Patch } from '../bytes/patch.ts';
import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import type { ContentDigest } from '../crypto/content.ts';
import type { Finding } from '../errors/finding.ts';
import type { Detail, SigningContext } from '../formats/format.ts';
import type { AuthenticodeParts } from './read-authenticode.ts';

export interface Container<Measured extends MeasuredContent = MeasuredContent> {
  readonly source: ByteSource;
  readonly kind: SignedKind;
  /** Why a second signature cannot be nested in the first, as a clause; undefined if it can. */
  readonly single?: string;
  /** Whatever is there as a signature, in the order of the file, readable or not. */
  entries(): Promise<readonly CmsEntry[]>;
  /** Why the entries cannot be written again with a change in them, as a clause; undefined if they can. */
  readonly obstacle: string | undefined;
  /**
   * Reads the content once. `new`: as a signature to be made covers it, `present`: as those that are in the file do, `bare`: as
   * signatures of some other programs do, which are also attached (only if `hasBareForm`). The digests are the values that a signature must hold, of packages the list of several digests.
   */
  measure(content: 'new' | 'present' | 'bare', algorithms: readonly ContentDigest[]): Promise<Measured>;
  readonly hasBareForm?: boolean;
  /** What a new signature signs: `spcContent`, or a content of its own, such as the list in a catalog. */
  content(context: SigningContext, measured: Measured): Promise<SignedContent>;
  /** What a signature claims of the file in addition to its digest, compared with the file: page hashes, for example. */
  compare?(parts: AuthenticodeParts): Promise<readonly Finding[]>;
  /** The edits that make `cms` the only entry. The same input gives the same bytes, also over its own result. */
  put(cms: Uint8Array, measured: Measured): Patch;
  /** The edits that take every entry out. Throws `not-signed`. */
  take(measured: () => Promise<Measured>): Promise<Patch>;
  /** What is wrong or odd with the file as a whole. */
  examine(measured: () => Promise<Measured>): Promise<readonly Finding[]>;
}

/** What signatures must say that they are for. */
export interface SignedKind {
  /** Dotted content type of the CMS; undefined for `SPC_INDIRECT_DATA`, which all but catalogs have. */
  readonly contentType?: string;
  /** Dotted data type in SpcIndirectDataContent, or the content type if the content is not SpcIndirectDataContent. */
  readonly dataType: string;
  /** Further types that signatures of such files have. */
  readonly otherTypes?: readonly string[];
  /** A wrong type that signing programs write for such files, and that their platform accepts. */
  readonly toleratedType?: string | undefined;
  /** The value that comes with the data type. */
  readonly value?: {
    /** For people: `image data`. */
    readonly name: string;
    /** What is wrong or odd with it by itself. */
    examine(value: Element | undefined): readonly Finding[];
    /** Throws what readers of ASN.1 throw. */
    describe(value: Element): readonly Detail[];
  };
  /** A line for each part of a content digest that is a list of digests; `actual`: that of the file, undefined if it cannot be computed. */
  describeDigest?(digest: Uint8Array, algorithm: DigestAlgorithm, actual: Uint8Array | undefined): readonly Detail[];
}

export interface CmsEntry {
  /** For people; unique in the file. */
  readonly location: string;
  /** Undefined if it is too long to be a CMS. */
  readonly cms: Uint8Array | undefined;
  /** What is wrong or odd with how it is stored: bytes hidden behind it, for example. */
  examine(): Promise<readonly Finding[]>;
}

export interface MeasuredContent {
  /** By each requested algorithm that is known. */
  readonly digests: ReadonlyMap<ContentDigest, Uint8Array>;
}

/** The content of a CMS. */
export interface SignedContent {
  /** Dotted. */
  readonly type: string;
  /** Encoded; its own tag and length are not digested. */
  readonly value: Uint8Array;
}

/** `digests` has every requested algorithm. A missing one is a fault of the program, not of the file. */
export function digestIn({ digests }: MeasuredContent, algorithm: DigestAlgorithm): Uint8Array {
  const digest = digests.get(algorithm);
  if (digest === undefined) throw new TypeError(`the content was not digested by ${algorithm}`);
  return digest;
}
