import type { ByteSource } from '../bytes/byte-source.ts';
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
  readonly digestEntries: DigestEntries;
  readonly budget: WorkBudget;
}

export interface SignableFile {
  signatures(): Promise<readonly FoundSignature[]>;
  /**
   * Examines the file as a whole, for example for bytes that no signature covers, a wrong checksum, or several
   * certificate tables. The content is read only once for the file and all its signatures.
   */
  examine(): Promise<readonly Finding[]>;
  layout(): readonly Detail[];
  readonly signing: Signing | undefined;
  readonly removing: Removing | undefined;
  readonly stamping: StampingEach | StampingWhole | undefined;
  readonly attaching: Attaching | undefined;
  /** The files inside this file, whatever their type. */
  readonly contents: Contents | undefined;
  /** Set if security catalogs identify this file by digests that do not cover all its bytes. */
  readonly listing: Listing | undefined;
  readonly catalog: Catalog | undefined;
}

export interface Signing {
  /** The only digest algorithm that verifiers accept for this file, and, as a clause, the reason. */
  readonly fixedAlgorithm: { readonly algorithm: DigestAlgorithm; readonly reason: string } | undefined;
  readonly unusedOptions: readonly FormatOption[];
  /** Runs all checks that do not need a digest of the content. Throws if the file cannot be signed. */
  check(context: SigningContext, mode: SigningMode): Promise<SigningPreview>;
  /** Digests the content. Deterministic: nothing is random, and `SigningContext.time` is the only source of time. */
  prepare(context: SigningContext, mode: SigningMode): Promise<Prepared>;
  /**
   * Checks the result after it is reopened, for any change that returns an `Embedding`. The result must contain each
   * expected envelope completely and unchanged. The content must match the digests in the new signature and in the
   * signature that encloses it.
   */
  verify(expected: Expected): Promise<void>;
}

export interface SigningPreview {
  readonly warnings: readonly string[];
  readonly requests: number;
  replaces(signature: FoundSignature): boolean;
  /**
   * Noun phrase for a signature that the user cannot create again, such as a repository signature. `replace` removes it
   * only if the user chose this mode explicitly.
   */
  readonly mustBeNamed: string | undefined;
}

export const PLAIN_PREVIEW: SigningPreview = {
  warnings: [],
  requests: 1,
  replaces: () => true,
  mustBeNamed: undefined,
};

export interface Prepared {
  /** The signing units are independent of each other. Most files have one. */
  readonly units: readonly [SigningUnit, ...SigningUnit[]];
  /** Returns how to store the sealed envelopes, and what the file must contain after that. Deterministic. */
  embed(sealed: Envelopes): Embedding;
}

export interface SigningUnit {
  /** Distinguishes the signing units if the file has several. */
  readonly name: string;
  readonly algorithm: DigestAlgorithm;
  readonly digest: Uint8Array;
  readonly timestamp: 'on-signature' | 'none';
  /** Returns the envelope after the signature value is inserted. Deterministic. */
  seal(value: Uint8Array, timestampToken?: Uint8Array): Envelope;
}

export type Envelopes = readonly [Envelope, ...Envelope[]];

export interface Removing {
  /**
   * Returns the signatures that will be removed. In some formats, the signatures that precede them must stay in the
   * file.
   */
  signatures(): Promise<readonly FoundSignature[]>;
  /** Returns the edits that remove all signatures. Throws `not-signed` if there is nothing to remove. */
  patch(): Promise<Patch>;
}

export interface StampingEach {
  readonly of: 'each-signature';
  /**
   * Returns the edits that replace existing timestamps with RFC 3161 tokens. The key of each token is the location of
   * its signature.
   */
  stamp(tokens: ReadonlyMap<string, Uint8Array>): Promise<Embedding>;
}

export interface StampingWhole {
  readonly of: 'file';
  /** Returns undefined if the last change to the file is already a timestamp, unless `force` is set. */
  prepare(options: WholeTimestampOptions): Promise<PreparedTimestamp | undefined>;
}

export interface Attaching {
  /**
   * Returns the edits that store a finished envelope. If the format permits only one, it replaces the existing
   * envelope. `verify` then shows whether the envelope belongs to this file. Throws `not-its-signature` if the file has
   * no location for the envelope.
   */
  place(envelope: Envelope): Promise<Embedding>;
}

export interface Listing {
  readonly as: 'program' | 'cabinet';
  digests(algorithms: readonly ContentDigest[]): Promise<Digests>;
}

export interface Catalog {
  state(file: ListedFile): 'listed' | 'changed' | 'not-listed';
}

export interface Contents {
  /**
   * Yields the files in the order of the container, without folders and links. Throws if the remaining files cannot be
   * read.
   */
  entries(): AsyncIterable<ContainedFile>;
  /** undefined if the files inside cannot be changed. */
  readonly changing: ChangingContents | undefined;
}

export interface ChangingContents {
  /** Yields the files that can be signed before the container itself. */
  entries(): AsyncIterable<ContainedFile>;
  /**
   * Returns the edits of the container that change these files, keyed by file name. Each patch applies to the bytes of
   * the file that it is for.
   */
  write(patches: ReadonlyMap<string, Patch>): Promise<Patch>;
}

export interface ContainedFile {
  /**
   * Path in the container, with components separated by `/`. The path is not checked: it may be absolute or contain
   * `..`.
   */
  readonly name: string;
  /** Length in bytes, unpacked. */
  readonly size: number;
  /** Throws if the data of this file is damaged. */
  open(): Promise<ByteSource>;
}

export type Digests = ReadonlyMap<ContentDigest, Uint8Array>;

export interface ListedFile {
  readonly name: string;
  readonly kind: Listing['as'] | 'other';
  readonly digests: Digests;
}

/** `replace` means that the new signature replaces all others. `append`: all others stay. */
export type SigningMode = 'replace' | 'append';

export interface SigningContext {
  readonly algorithm: DigestAlgorithm;
  /** Digest algorithm of the timestamp that will be requested. undefined if no timestamp is wanted. */
  readonly timestampAlgorithm?: DigestAlgorithm | undefined;
  /** Bytes to reserve for the timestamp token, in formats whose digest depends on the space. */
  readonly tokenReserve?: number | undefined;
  readonly chain: SigningChain;
  /**
   * Signed time. The time is chosen once and recorded in the journal, so that a later run can create the same bytes.
   */
  readonly time: Date;
  readonly formatOptions: FormatOptions;
}

export interface WholeTimestampOptions {
  readonly algorithm: DigestAlgorithm;
  readonly tokenReserve: number;
  /** True to add a timestamp even if the last change to the file is already a timestamp. */
  readonly force: boolean;
}

export interface PreparedTimestamp {
  digest(): Promise<Uint8Array>;
  embed(token: Uint8Array): Embedding;
}

export interface Expected {
  readonly added: Envelopes;
  /**
   * All envelopes that the file must contain after the change was made. For a new nested envelope, the list contains
   * the envelope that encloses it instead of the new one.
   */
  readonly envelopes: readonly Envelope[];
}

export interface Embedding extends Expected {
  readonly patch: Patch;
}
