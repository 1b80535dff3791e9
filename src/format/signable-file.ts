/** An open file, and what can be done with it. */

import type { Patch } from '../bytes/pieces.ts';
import type { SigningChain } from '../certificates/signing-chain.ts';
import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import type { ContentDigest, MeasureContent } from '../crypto/measure-content.ts';
import type { WorkBudget } from '../crypto/work-budget.ts';
import type { Finding } from '../errors/finding.ts';
import type { DigestEntries } from '../zip/entry-digests.ts';
import type { FormatOption, FormatOptions } from './options.ts';
import type { Detail, Envelope, FoundSignature } from './signature.ts';

export interface ContentReader {
  readonly measure: MeasureContent;
  /** For formats based on ZIP archives. */
  readonly digestEntries: DigestEntries;
  /** Charged for checks of signatures and certificates. */
  readonly budget: WorkBudget;
}

export interface SignableFile {
  /** Returns the outer signatures, each with those nested in it; empty if the file is unsigned. */
  signatures(): Promise<readonly FoundSignature[]>;
  /**
   * Examines the file as a whole: bytes that no signature covers, a wrong checksum, several tables. Returns nothing for
   * a valid file. The content is read once for this and for all signatures.
   */
  examine(): Promise<readonly Finding[]>;
  /** Describes the kind of file and the locations of its signatures, for people. */
  layout(): readonly Detail[];
  readonly signing: Signing | undefined;
  readonly removing: Removing | undefined;
  readonly stamping: StampingEach | StampingWhole | undefined;
  readonly attaching: Attaching | undefined;
  /** Set if security catalogs list the file by other digests than those of all its bytes. */
  readonly listing: Listing | undefined;
  readonly catalog: Catalog | undefined;
}

export interface Signing {
  /** The only algorithm that verifiers accept for this file, with the reason as a clause; undefined for any. */
  readonly fixedAlgorithm: { readonly algorithm: DigestAlgorithm; readonly reason: string } | undefined;
  /** Options of the format that do not affect this file. */
  readonly unusedOptions: readonly FormatOption[];
  /** Runs all checks that need no content digest. Throws if the file cannot be signed. */
  check(context: SigningContext, mode: SigningMode): Promise<SigningPreview>;
  /** Returns files inside this one that get their own signatures, if the options request it. */
  inner?(context: Pick<SigningContext, 'formatOptions'>): Promise<InnerFiles>;
  /**
   * Digests the content. The same input gives the same digests: nothing is random, and `SigningContext.time` is the only
   * clock. `inner` are the signatures of files inside this one, by name; the new signature covers the file with these.
   */
  prepare(context: SigningContext, mode: SigningMode, inner?: ReadonlyMap<string, Embedding>): Promise<Prepared>;
  /**
   * Checks the reopened result of any change that gives an `Embedding`. It must contain the expected envelopes
   * completely, and the digests in the new signature and in the one that encloses it must match the content. Throws
   * `result-damaged`.
   */
  verify(expected: Expected): Promise<void>;
}

export interface SigningPreview {
  /** Problems that do not prevent signing, such as an outdated table entry. */
  readonly warnings: readonly string[];
  /** Number of units. */
  readonly requests: number;
  /** Returns whether the new signature replaces this one. */
  replaces(signature: FoundSignature): boolean;
  /**
   * A noun phrase for something that `replace` would remove and the user cannot create again, so that the user must
   * choose this mode explicitly.
   */
  readonly mustBeNamed: string | undefined;
}

/** One new signature that takes the place of all others. */
export const PLAIN_PREVIEW: SigningPreview = {
  warnings: [],
  requests: 1,
  replaces: () => true,
  mustBeNamed: undefined,
};

export interface Prepared {
  /** Independent of each other, and usually one. */
  readonly units: readonly [SigningUnit, ...SigningUnit[]];
  /** Returns how the sealed envelopes of the units are stored, and what the file must then contain. Deterministic. */
  embed(sealed: Envelopes): Embedding;
}

/** One signature that the service makes. */
export interface SigningUnit {
  /** Tells several units of a file apart. */
  readonly name: string | undefined;
  readonly algorithm: DigestAlgorithm;
  /** What the service signs. */
  readonly digest: Uint8Array;
  readonly timestamp: 'on-signature' | 'none';
  /** Returns the envelope with the signature value. Deterministic. */
  seal(value: Uint8Array, timestampToken?: Uint8Array): Envelope;
}

export type Envelopes = readonly [Envelope, ...Envelope[]];

export interface Removing {
  /** Returns the signatures that go. In some formats earlier ones must stay. */
  signatures(): Promise<readonly FoundSignature[]>;
  /** Returns the edits that remove them. Throws `not-signed`: there may be remains to remove without a signature. */
  patch(): Promise<Patch>;
}

export interface StampingEach {
  readonly of: 'each-signature';
  /**
   * Returns the edits that give the signatures at these locations, including nested ones, RFC 3161 tokens in place of
   * existing timestamps. Everything else stays.
   */
  stamp(tokens: ReadonlyMap<string, Uint8Array>): Promise<Embedding>;
}

export interface StampingWhole {
  readonly of: 'file';
  /** Returns undefined if the last change is already a timestamp, unless `force` is set. Throws if it is impossible. */
  prepare(options: WholeTimestampOptions): Promise<PreparedTimestamp | undefined>;
}

export interface Attaching {
  /**
   * Returns the edits that put in a finished envelope; it replaces existing ones if the format has only one. The result
   * shows whether it is a signature of this file. Throws `not-its-signature` if there is no place for it.
   */
  place(envelope: Envelope): Promise<Embedding>;
}

export interface Listing {
  readonly as: 'program' | 'cabinet';
  digests(algorithms: readonly ContentDigest[]): Promise<Digests>;
}

/** A security catalog. */
export interface Catalog {
  state(file: ListedFile): 'listed' | 'changed' | 'not-listed';
}

export interface InnerFiles {
  /** Files to be signed first. */
  readonly files: readonly InnerFile[];
  /** Files that are already signed, and stay unchanged. */
  readonly kept: readonly InnerFile[];
  /** Warnings about these files. */
  readonly warnings: readonly string[];
}

export interface InnerFile extends Pick<Signing, 'fixedAlgorithm'> {
  /** Unique in the enclosing file; may include folders. */
  readonly name: string;
  readonly size: number;
  open(reader: ContentReader): Promise<SignableFile>;
}

export type Digests = ReadonlyMap<ContentDigest, Uint8Array>;

/** A file as security catalogs list it. */
export interface ListedFile {
  /** Without folders. */
  readonly name: string;
  readonly kind: Listing['as'] | 'other';
  /** Digests with SHA1 and SHA256. */
  readonly digests: Digests;
}

/** replace: the new signature replaces all others. append: all others stay. */
export type SigningMode = 'replace' | 'append';

export interface SigningContext {
  readonly algorithm: DigestAlgorithm;
  /** Digest algorithm of the timestamp that will be requested; undefined for none. */
  readonly timestampAlgorithm?: DigestAlgorithm | undefined;
  /** Bytes to reserve for the token, if the space is fixed before digesting; undefined for none. */
  readonly tokenReserve?: number | undefined;
  readonly chain: SigningChain;
  /** Signed time, chosen once and recorded in the journal, so that a later run creates the same bytes. */
  readonly time: Date;
  readonly formatOptions: FormatOptions;
}

export interface WholeTimestampOptions {
  readonly algorithm: DigestAlgorithm;
  readonly tokenReserve: number;
  /** True to add a timestamp to a file that already has one. */
  readonly force: boolean;
}

export interface PreparedTimestamp {
  digest(): Promise<Uint8Array>;
  /** Returns how the token is stored in the file, and what the file must then contain. */
  embed(token: Uint8Array): Embedding;
}

export interface Expected {
  /** The new envelopes, or those that a change concerns. */
  readonly added: Envelopes;
  /**
   * All envelopes that the file then contains: those added or the one that encloses them, and in formats with several
   * independent signatures the others too.
   */
  readonly envelopes: readonly Envelope[];
  /** Expected envelopes of files inside this one, by name. */
  readonly inner?: ReadonlyMap<string, Expected>;
}

export interface Embedding extends Expected {
  readonly patch: Patch;
}
