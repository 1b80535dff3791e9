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
   * Examines the file as a whole: bytes that no signature covers, a wrong checksum, several tables. The content is read
   * once for the file and all its signatures.
   */
  examine(): Promise<readonly Finding[]>;
  layout(): readonly Detail[];
  readonly signing: Signing | undefined;
  readonly removing: Removing | undefined;
  readonly stamping: StampingEach | StampingWhole | undefined;
  readonly attaching: Attaching | undefined;
  /** The files inside this file, of any type. */
  readonly contents: Contents | undefined;
  /** Set if security catalogs identify the file by digests that do not cover all its bytes. */
  readonly listing: Listing | undefined;
  readonly catalog: Catalog | undefined;
}

export interface Signing {
  /** The only digest algorithm that verifiers accept for this file, and the reason as a clause. */
  readonly fixedAlgorithm: { readonly algorithm: DigestAlgorithm; readonly reason: string } | undefined;
  readonly unusedOptions: readonly FormatOption[];
  /** Runs all checks that need no content digest. Throws if the file cannot be signed. */
  check(context: SigningContext, mode: SigningMode): Promise<SigningPreview>;
  /** Digests the content. Deterministic: nothing is random, and `SigningContext.time` is the only clock. */
  prepare(context: SigningContext, mode: SigningMode): Promise<Prepared>;
  /**
   * Checks the reopened result of any change that returns an `Embedding`. The result must contain each expected
   * envelope completely. The digests in the new signature and in the enclosing signature must match the content.
   */
  verify(expected: Expected): Promise<void>;
}

export interface SigningPreview {
  readonly warnings: readonly string[];
  readonly requests: number;
  replaces(signature: FoundSignature): boolean;
  /**
   * Noun phrase for a part that the user cannot create again, such as a repository signature. `replace` removes it only
   * if the user chose the mode explicitly.
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
  /** The units are independent of each other. Most files have one. */
  readonly units: readonly [SigningUnit, ...SigningUnit[]];
  /** Returns how to store the sealed envelopes, and what the file must then contain. Deterministic. */
  embed(sealed: Envelopes): Embedding;
}

export interface SigningUnit {
  /** Distinguishes the units of a file that has several. */
  readonly name: string;
  readonly algorithm: DigestAlgorithm;
  readonly digest: Uint8Array;
  readonly timestamp: 'on-signature' | 'none';
  /** Returns the envelope with the signature value. Deterministic. */
  seal(value: Uint8Array, timestampToken?: Uint8Array): Envelope;
}

export type Envelopes = readonly [Envelope, ...Envelope[]];

export interface Removing {
  /** Returns the signatures that will be removed. In some formats, earlier signatures must stay in the file. */
  signatures(): Promise<readonly FoundSignature[]>;
  /** Returns the edits that remove all signatures. Throws `not-signed` if there is nothing to remove. */
  patch(): Promise<Patch>;
}

export interface StampingEach {
  readonly of: 'each-signature';
  /** Returns the edits that replace timestamps by RFC 3161 tokens. The key of a token is a signature's location. */
  stamp(tokens: ReadonlyMap<string, Uint8Array>): Promise<Embedding>;
}

export interface StampingWhole {
  readonly of: 'file';
  /** Returns undefined if the last change is already a timestamp, unless `force` is set. */
  prepare(options: WholeTimestampOptions): Promise<PreparedTimestamp | undefined>;
}

export interface Attaching {
  /**
   * Returns the edits that store a finished envelope, in place of the existing one if the format permits only one.
   * `verify` shows whether the envelope belongs to this file. Throws `not-its-signature` if the file has no place for
   * the envelope.
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
  /** Yields the files in container order, without folders and links. Throws if the remaining files are unreadable. */
  entries(): AsyncIterable<ContainedFile>;
  /** undefined if the files inside cannot be changed. */
  readonly changing: ChangingContents | undefined;
}

export interface ChangingContents {
  /** Yields the files that can be signed before the container. */
  entries(): AsyncIterable<ContainedFile>;
  /** Returns the edits of the container that change these files, by name. Each patch applies to the bytes of its file. */
  write(patches: ReadonlyMap<string, Patch>): Promise<Patch>;
}

export interface ContainedFile {
  /** Path in the container, separated by `/`. Not checked: may be absolute or contain `..`. */
  readonly name: string;
  /** Length in bytes, unpacked. */
  readonly size: number;
  /** Throws if the data of the file is damaged. */
  open(): Promise<ByteSource>;
}

export type Digests = ReadonlyMap<ContentDigest, Uint8Array>;

export interface ListedFile {
  readonly name: string;
  readonly kind: Listing['as'] | 'other';
  readonly digests: Digests;
}

/** `replace`: the new signature replaces all others. `append`: all others stay. */
export type SigningMode = 'replace' | 'append';

export interface SigningContext {
  readonly algorithm: DigestAlgorithm;
  /** Digest algorithm of the timestamp that will be requested. undefined if no timestamp is wanted. */
  readonly timestampAlgorithm?: DigestAlgorithm | undefined;
  /** Bytes to reserve for the token in formats that fix the space before digesting. */
  readonly tokenReserve?: number | undefined;
  readonly chain: SigningChain;
  /** Signed time. The time is chosen once and recorded in the journal, so that a later run creates the same bytes. */
  readonly time: Date;
  readonly formatOptions: FormatOptions;
}

export interface WholeTimestampOptions {
  readonly algorithm: DigestAlgorithm;
  readonly tokenReserve: number;
  /** True to add a timestamp even if the last change is already a timestamp. */
  readonly force: boolean;
}

export interface PreparedTimestamp {
  digest(): Promise<Uint8Array>;
  embed(token: Uint8Array): Embedding;
}

export interface Expected {
  readonly added: Envelopes;
  /**
   * All envelopes that the file must contain after the change. The list contains the enclosing envelope of a new nested
   * envelope instead of the new one.
   */
  readonly envelopes: readonly Envelope[];
}

export interface Embedding extends Expected {
  readonly patch: Patch;
}
