/** The interface of file formats. It has only types, and the function `cmsEnvelope`. */

import type { ByteSource } from '../bytes/byte-source.ts';
import type { Patch } from '../bytes/patch.ts';
import type { Purpose } from '../certificates/purpose.ts';
import type { SigningChain } from '../certificates/signing-chain.ts';
import type { Attribute } from '../cms/build-signed-data.ts';
import type { SignedData } from '../cms/parse-signed-data.ts';
import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import type { ContentDigest, MeasureContent } from '../crypto/content.ts';
import type { WorkBudget } from '../crypto/work-budget.ts';
import type { Finding } from '../errors/finding.ts';
import type { Timestamp } from '../timestamp/timestamp.ts';
import type { DigestEntries } from '../zip/entry-digests.ts';
import type { FormatOption, FormatOptions } from './format-options.ts';

export interface Format {
  /** Short id for JSON and messages: `pe`, `jar`. */
  readonly id: string;
  readonly title: string;
  /** In lower case, with the dot. For documentation and folders; never decides the format of a file. */
  readonly extensions: readonly string[];
  /** Folders often contain such files for other purposes, so they are signed only if the user names them. */
  readonly onlyIfNamed?: readonly string[];
  /** Options of this format. Formats that share an option declare the same object. */
  readonly options: readonly FormatOption[];
  /** Supported treatment of existing signatures. Other modes are rejected before any request. */
  readonly modes: readonly SigningMode[];
  readonly defaultMode: SigningMode;
  readonly appendWarning?: string;
  /** True if signatures contain `SigningContext.time`. A resumed run then uses the time of the first one. */
  readonly signsTime?: boolean;
  /** Purpose that signing and `verify` require of the signer's certificate. */
  readonly purpose: Purpose;
  readonly recognition: Recognition;
  /** True if the result must have the same extension, because it decides how the signature is written. */
  readonly keepsExtension?: boolean;
  /** Set for security catalogs only. Their files have `lists`. */
  readonly listsFiles?: true;
  /** Kind in which catalogs list these files by `listedDigests`; undefined if they list them by all bytes. */
  readonly listedAs?: 'program' | 'cabinet';
  /** Returns a noun phrase if the format does not sign files with this name, although the content fits. */
  refuses?(name: string): string | undefined;
  /**
   * Reads the layout. Fails before any request if the file is malformed or has no space for a signature. `name` is the
   * user's name for the file; for a file to be written, the name of the result.
   */
  open(source: ByteSource, reader: ContentReader, name: string): Promise<SignableFile>;
  /** Searches a file that `open` rejects for traces of a signature. undefined if every file counts as signed. */
  seemsSigned?(source: ByteSource): Promise<boolean>;
}

export type Recognition =
  | {
      readonly by: 'bytes';
      /** `head` is the first 4096 bytes, or fewer if the file is shorter. */
      claims(head: Uint8Array, name: string): boolean;
    }
  | {
      readonly by: 'zip';
      /** Folders whose entry names are read, in lower case and with a final `/`. Names in the root are always read. */
      readonly folders: readonly string[];
      /** `surely`: no other kind of archive has these names. `possibly`: no other known kind must match. */
      claims(names: ReadonlySet<string>, name: string): 'surely' | 'possibly' | undefined;
    };

/** Attributes and certificates of a new CMS. `signature-profile.ts` builds it, adds timestamps and reads them. */
export interface SignatureProfile {
  /** In addition to contentType and messageDigest. Deterministic, with `context.time` as the only clock. */
  signedAttributes(context: SigningContext): readonly Attribute[];
  /** True if a CMS also includes the root, provided that the user gave it. */
  readonly carriesRoot: boolean;
  /** Unsigned attributes (dotted) in which `verifier` reads timestamps. New timestamps use the first. */
  readonly timestampTypes: readonly [string, ...string[]];
  /** True if `verifier` reads signatures that are nested in the unsigned attributes. */
  readonly readsNested?: boolean;
  /** Name in messages, such as `Windows`. */
  readonly verifier: string;
}

export interface ContentReader {
  readonly measure: MeasureContent;
  /** For formats based on ZIP archives. */
  readonly digestEntries: DigestEntries;
  /** Charged for checks of signatures and certificates. */
  readonly budget: WorkBudget;
}

export interface SignableFile {
  readonly profile: SignatureProfile;
  /** Problems that do not prevent signing, such as an outdated table entry. */
  readonly warnings: readonly string[];
  /** Options of the format that do not affect this file; undefined if all do. */
  readonly unusedOptions?: readonly FormatOption[];
  /** The only algorithm that verifiers accept for this file, with the reason as a clause; undefined for any. */
  readonly fixedAlgorithm?: { readonly algorithm: DigestAlgorithm; readonly reason: string };
  /** Returns the same unchanged file with another source, without reading its layout again. */
  reopen(source: ByteSource, reader: ContentReader): SignableFile;
  /** Returns the outer signatures, each with those nested in it; empty if the file is unsigned. */
  signatures(): Promise<readonly EmbeddedSignature[]>;
  /** Runs all checks that need no content digest. Throws if the file cannot be signed. */
  check(context: SigningContext, mode: SigningMode): Promise<void>;
  /** Returns the signatures that an appended one would replace; most formats have none. */
  displaced?(context: SigningContext): Promise<readonly EmbeddedSignature[]>;
  /**
   * Returns a noun phrase if `replace` would remove something that the user cannot create again, so the user must
   * choose that mode explicitly. In most formats there is no such thing.
   */
  needsExplicitReplace?(): Promise<string | undefined>;
  /** Returns files inside this one that get their own signatures, if the options request it. */
  inner?(context: Pick<SigningContext, 'formatOptions'>): Promise<InnerFiles>;
  /**
   * Digests the content and returns the bytes to be signed. The same input gives the same bytes: nothing is random, and
   * `SigningContext.time` is the only clock. `inner` are the signatures of files inside this one, by name; the new
   * signature covers the file with these.
   */
  prepare(
    context: SigningContext,
    mode: SigningMode,
    inner?: ReadonlyMap<string, Embedding>,
  ): Promise<PreparedSignature>;
  /**
   * Checks the reopened result. It must contain the expected envelope completely, and the digests in the new signature
   * and in the one that encloses it must match the content. Throws `result-damaged`.
   */
  verifyResult(expected: ExpectedEnvelope): Promise<void>;
  /**
   * Examines the file as a whole: bytes that no signature covers, a wrong checksum, several tables. Returns nothing for
   * a valid file. The content is read once for this and for all signatures.
   */
  examine(): Promise<readonly Finding[]>;
  /** Describes the kind of file and the locations of its signatures, for people. */
  layout(): readonly Detail[];
  /** Returns the edits that remove all signatures, or those of `removable`. Throws `not-signed`. */
  remove(): Promise<Patch>;
  /** Returns the last signatures, in formats in which `remove` must leave earlier ones. */
  removable?(): Promise<readonly EmbeddedSignature[]>;
  /**
   * Returns the edits that give signatures of this file (as returned by `signatures`, including nested ones) these RFC
   * 3161 tokens in place of existing timestamps. Everything else stays. Formats with `prepareTimestamp` do not support
   * it.
   */
  stamp(tokens: ReadonlyMap<EmbeddedSignature, Uint8Array>): Promise<Embedding>;
  /**
   * For formats with timestamps of the whole file instead of single signatures. Returns undefined if the last change is
   * already a timestamp, unless `force` is set. Throws if it is impossible.
   */
  prepareTimestamp?(options: DocumentTimestampOptions): Promise<PreparedTimestamp | undefined>;
  /**
   * Returns the edits that attach a finished envelope; it replaces existing ones if the format has only one. The result
   * shows whether it is a signature of this file. Throws `not-its-signature` if there is no place for it.
   */
  attach(envelope: Envelope): Promise<Embedding>;
  /** Returns the digests by which security catalogs list this file, for formats with `listedAs`. */
  listedDigests?(algorithms: readonly ContentDigest[]): Promise<Digests>;
  /** Only security catalogs have this. It compares a file with the catalog's list. */
  lists?(file: ListedFile): 'listed' | 'changed' | 'not-listed';
}

export interface InnerFiles {
  /** Files to be signed first. */
  readonly files: readonly InnerFile[];
  /** Files that are already signed, and stay unchanged. */
  readonly kept: readonly InnerFile[];
  /** Warnings about these files. */
  readonly warnings: readonly string[];
}

export interface InnerFile extends Pick<SignableFile, 'fixedAlgorithm'> {
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
  readonly kind: 'program' | 'cabinet' | 'other';
  /** Digests with SHA1 and SHA256. */
  readonly digests: Digests;
}

/** A line for people, and a JSON member for programs. */
export interface Detail {
  /** In lower-case words: `content digest`. */
  readonly name: string;
  /** Not escaped: may contain control characters. */
  readonly value: string;
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

/** A finished signature as stored in files: a CMS in DER, or an XML signature. */
export interface Envelope {
  readonly kind: 'cms' | 'xml';
  readonly bytes: Uint8Array;
}

export const cmsEnvelope = (bytes: Uint8Array): Envelope => ({ kind: 'cms', bytes });

export interface PreparedSignature {
  readonly toBeSigned: Uint8Array;
  /** Returns the envelope with the signature value. Deterministic. */
  seal(signature: Uint8Array, timestampToken?: Uint8Array): Envelope;
  /** Returns how a sealed envelope is stored in the file, and what the file must then contain. Deterministic. */
  embed(sealed: Envelope): Embedding;
}

export interface DocumentTimestampOptions {
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

export interface ExpectedEnvelope {
  readonly sealed: Envelope;
  /**
   * All envelopes that the file then contains: `sealed` or the one that encloses it, and in formats with several
   * independent signatures the others too.
   */
  readonly envelopes: readonly Envelope[];
  /** Expected envelopes of files inside this one, by name. */
  readonly inner?: ReadonlyMap<string, ExpectedEnvelope>;
}

export interface Embedding extends ExpectedEnvelope {
  readonly patch: Patch;
}

export interface EmbeddedSignature {
  /** Display name: `certificate table, entry 1`, `META-INF/NAME.RSA`, `nested in …`. */
  readonly location: string;
  /** As stored in the file, without the bytes after it. */
  readonly envelope: Envelope;
  readonly signedData: SignedData | undefined;
  /** DER; undefined if the signature does not include it. */
  readonly signerCertificate: Uint8Array | undefined;
  /** Display name: common name of the signer, or issuer and serial number without a certificate. */
  readonly signerName: string;
  /** Weakest digest algorithm; undefined if the API lacks one of them (such as MD5), or it cannot be read. */
  readonly algorithm: DigestAlgorithm | undefined;
  readonly nested: readonly EmbeddedSignature[];
  /** Other signers of the CMS, or countersigners. Verifiers that read them must trust each. */
  readonly coSigners?: readonly EmbeddedSignature[];
  /** Timestamps of the signature value in order. Usually none or one. */
  readonly timestamps: readonly Timestamp[];
  /** Returns details that depend on the format: description, web page, digest of the content and whether it matches. */
  details(): Promise<readonly Detail[]>;
  /** Examines content, signed attributes and signature value. Does not check trust or timestamps. */
  examine(): Promise<readonly Finding[]>;
}

/** Includes nested signatures, each after the one that contains it. */
export function flatten<Signature extends { readonly nested: readonly Signature[] }>(
  signatures: readonly Signature[],
): Signature[] {
  return signatures.flatMap((signature) => [signature, ...flatten(signature.nested)]);
}
