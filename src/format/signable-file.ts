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
  /** Examines the file as a whole, for example for bytes that no signature covers. */
  examine(): Promise<readonly Finding[]>;
  layout(): readonly Detail[];
  readonly signing: Signing | undefined;
  readonly removing: Removing | undefined;
  readonly stamping: StampingEach | StampingWhole | undefined;
  readonly attaching: Attaching | undefined;
  readonly contents: Contents | undefined;
  /** Set if a security catalog identifies the file by digests of some of its bytes. */
  readonly listing: Listing | undefined;
  readonly catalog: Catalog | undefined;
}

export interface Signing {
  /** The only digest algorithm that verifiers accept, with a clause that states the reason. */
  readonly fixedAlgorithm: { readonly algorithm: DigestAlgorithm; readonly reason: string } | undefined;
  readonly unusedOptions: readonly FormatOption[];
  /** Runs all checks that need no content digest. Throws if the file cannot be signed. */
  check(context: SigningContext, mode: SigningMode): Promise<SigningPreview>;
  /** Returns the same result each time, because `SigningContext.time` is the only source of time. */
  prepare(context: SigningContext, mode: SigningMode): Promise<Prepared>;
  /**
   * Checks the reopened signed file, which must contain each envelope unchanged, and match the digests in the new
   * signature.
   */
  verify(expected: Expected): Promise<void>;
}

export interface SigningPreview {
  readonly warnings: readonly string[];
  readonly requests: number;
  replaces(signature: FoundSignature): boolean;
  /** A signature that the user cannot create again, such as a repository signature. Only `--replace` removes it. */
  readonly mustBeNamed: string | undefined;
}

export const PLAIN_PREVIEW: SigningPreview = {
  warnings: [],
  requests: 1,
  replaces: () => true,
  mustBeNamed: undefined,
};

export interface Prepared {
  /** Most files have one unit to sign. Several units are signed independently of each other. */
  readonly units: readonly [SigningUnit, ...SigningUnit[]];
  embed(sealed: Envelopes): Embedding;
}

export interface SigningUnit {
  readonly name: string;
  readonly algorithm: DigestAlgorithm;
  readonly digest: Uint8Array;
  readonly timestamp: 'on-signature' | 'none';
  seal(value: Uint8Array, timestampToken?: Uint8Array): Envelope;
}

export type Envelopes = readonly [Envelope, ...Envelope[]];

export interface Removing {
  /** Returns the signatures that `patch` removes. In some formats, earlier signatures must stay. */
  signatures(): Promise<readonly FoundSignature[]>;
  patch(): Promise<Patch>;
}

export interface StampingEach {
  readonly of: 'each-signature';
  /** Replaces existing timestamps with RFC 3161 tokens, keyed by the locations of the signatures. */
  stamp(tokens: ReadonlyMap<string, Uint8Array>): Promise<Embedding>;
}

export interface StampingWhole {
  readonly of: 'file';
  /** Returns undefined if the last change is already a timestamp, unless `force` is set. */
  prepare(algorithm: DigestAlgorithm, force: boolean): Promise<PreparedTimestamp | undefined>;
}

export interface Attaching {
  /**
   * Replaces the existing envelope if the format permits only one. Throws if the file has no place for the envelope.
   * `verify` checks later whether the envelope belongs to the file.
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
   * Yields files in the order of the container, without folders and links. `most` limits the number of bytes that are
   * unpacked to find the files.
   */
  entries(neighbour?: FindNeighbour, most?: number): AsyncIterable<ContainedFile>;
  readonly changing: ChangingContents | undefined;
}

export interface ChangingContents {
  /** Yields the files that can be signed before the container. */
  entries(): AsyncIterable<ContainedFile>;
  /** `patches` contains a patch for each changed file, keyed by the name of the file. */
  write(patches: ReadonlyMap<string, Patch>): Promise<Patch>;
}

/** Finds the file with this name in the same folder or container, for example the next cabinet of a set. */
export type FindNeighbour = (name: string) => Promise<ByteSource | undefined>;

export interface ContainedFile {
  /** A path with `/`, which can be absolute and can contain `..`. */
  readonly name: string;
  readonly size: number;
  open(): Promise<ByteSource>;
}

export type Digests = ReadonlyMap<ContentDigest, Uint8Array>;

export interface ListedFile {
  readonly name: string;
  readonly kind: Listing['as'] | 'other';
  readonly digests: Digests;
}

/** `replace`: the new signature replaces all others. `append`: the existing signatures stay. */
export type SigningMode = 'replace' | 'append';

export interface SigningContext {
  readonly algorithm: DigestAlgorithm;
  readonly timestampAlgorithm?: DigestAlgorithm | undefined;
  readonly chain: SigningChain;
  /** The signing time. A later run reads the time from the journal, and creates the same bytes. */
  readonly time: Date;
  readonly formatOptions: FormatOptions;
}

export interface PreparedTimestamp {
  digest(): Promise<Uint8Array>;
  embed(token: Uint8Array): Embedding;
}

export interface Expected {
  readonly added: Envelopes;
  /** All envelopes that the signed file must contain, except nested envelopes. */
  readonly envelopes: readonly Envelope[];
}

export interface Embedding extends Expected {
  readonly patch: Patch;
}
