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
   * Examines the file as a whole, for example for bytes that no signature covers. Reads the content once for the file
   * and all its signatures.
   */
  examine(): Promise<readonly Finding[]>;
  layout(): readonly Detail[];
  readonly signing: Signing | undefined;
  readonly removing: Removing | undefined;
  readonly stamping: StampingEach | StampingWhole | undefined;
  readonly attaching: Attaching | undefined;
  /** Files inside this file, whatever their type. */
  readonly contents?: Contents | undefined;
  /** Catalogs identify such a file by digests that do not cover all its bytes. */
  readonly listing?: Listing | undefined;
  readonly catalog?: Catalog | undefined;
}

export interface Signing {
  /** The only algorithm that verifiers accept, and why, as a clause. */
  readonly fixedAlgorithm?: { readonly algorithm: DigestAlgorithm; readonly reason: string } | undefined;
  readonly unusedOptions?: readonly FormatOption[];
  /** Runs all checks that need no content digest. Throws if the file cannot be signed. */
  check(context: SigningContext, mode: SigningMode): Promise<SigningPreview>;
  /** Deterministic: `SigningContext.time` is the only source of time. */
  prepare(context: SigningContext, mode: SigningMode): Promise<Prepared>;
  /**
   * Checks the reopened result of any `Embedding`: it must contain each envelope unchanged, and match the digests in
   * the new signature and in the one around it.
   */
  verify(expected: Expected): Promise<void>;
}

export interface SigningPreview {
  readonly warnings: readonly string[];
  readonly requests: number;
  replaces(signature: FoundSignature): boolean;
  /**
   * A signature that the user cannot create again, such as a repository signature. `replace` removes it only if chosen
   * explicitly.
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
  /** Units are independent. Most files have one. */
  readonly units: readonly [SigningUnit, ...SigningUnit[]];
  /** Deterministic. */
  embed(sealed: Envelopes): Embedding;
}

export interface SigningUnit {
  /** Distinguishes the units of a file. */
  readonly name: string;
  readonly algorithm: DigestAlgorithm;
  readonly digest: Uint8Array;
  readonly timestamp: 'on-signature' | 'none';
  /** Deterministic. */
  seal(value: Uint8Array, timestampToken?: Uint8Array): Envelope;
}

export type Envelopes = readonly [Envelope, ...Envelope[]];

export interface Removing {
  /** Those that will be removed. In some formats, the signatures before them must stay. */
  signatures(): Promise<readonly FoundSignature[]>;
  /** Throws `not-signed` if there is nothing to remove. */
  patch(): Promise<Patch>;
}

export interface StampingEach {
  readonly of: 'each-signature';
  /** Replaces existing timestamps with RFC 3161 tokens, keyed by the location of their signature. */
  stamp(tokens: ReadonlyMap<string, Uint8Array>): Promise<Embedding>;
}

export interface StampingWhole {
  readonly of: 'file';
  /** Returns undefined if the last change is already a timestamp, unless `force` is set. */
  prepare(algorithm: DigestAlgorithm, force: boolean): Promise<PreparedTimestamp | undefined>;
}

export interface Attaching {
  /**
   * Replaces the existing envelope if only one is permitted. `verify` then shows whether the envelope belongs to the
   * file. Throws `not-its-signature` without a location for it.
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
   * Yields files in the order of the container, without folders and links. Throws if the others cannot be read. `most`
   * limits the bytes that are unpacked only to find the files.
   */
  entries(neighbour?: FindNeighbour, most?: number): AsyncIterable<ContainedFile>;
  /** undefined if the files inside cannot be changed. */
  readonly changing: ChangingContents | undefined;
}

export interface ChangingContents {
  /** Those that can be signed before the container. */
  entries(): AsyncIterable<ContainedFile>;
  /** `patches` are keyed by file name, and apply to the bytes of that file. */
  write(patches: ReadonlyMap<string, Patch>): Promise<Patch>;
}

/**
 * Returns the file of this name in the same folder or container, in which the contents continue. undefined if there is
 * none.
 */
export type FindNeighbour = (name: string) => Promise<ByteSource | undefined>;

export interface ContainedFile {
  /** Path with `/`. Not checked: it may be absolute or contain `..`. */
  readonly name: string;
  /** The unpacked length in bytes. */
  readonly size: number;
  open(): Promise<ByteSource>;
}

export type Digests = ReadonlyMap<ContentDigest, Uint8Array>;

export interface ListedFile {
  readonly name: string;
  readonly kind: Listing['as'] | 'other';
  readonly digests: Digests;
}

/** `replace`: the new signature replaces all others. `append`: they stay. */
export type SigningMode = 'replace' | 'append';

export interface SigningContext {
  readonly algorithm: DigestAlgorithm;
  /** undefined if no timestamp is wanted. */
  readonly timestampAlgorithm?: DigestAlgorithm | undefined;
  readonly chain: SigningChain;
  /** Signed time. The journal records it, so that a later run can create the same bytes. */
  readonly time: Date;
  readonly formatOptions: FormatOptions;
}

export interface PreparedTimestamp {
  digest(): Promise<Uint8Array>;
  embed(token: Uint8Array): Embedding;
}

export interface Expected {
  readonly added: Envelopes;
  /** All envelopes that the file must then contain. A new nested envelope is represented by the one around it. */
  readonly envelopes: readonly Envelope[];
}

export interface Embedding extends Expected {
  readonly patch: Patch;
}
