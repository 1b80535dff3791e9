/** THE FORMAT SEAM: what a file format must know so that its files can be signed. Types, and nothing to run but `cmsEnvelope`. */

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
  /** Short word for JSON and messages: `pe`, `jar`. */
  readonly id: string;
  readonly title: string;
  /** With the dot, lower case. For documentation and for folders; never decides what a file is. */
  readonly extensions: readonly string[];
  /** Extensions, listed above or not, of files that a folder usually holds for another reason: such a file must be named. */
  readonly onlyIfNamed?: readonly string[];
  /** Those of its own. Formats that share an option declare the same object. */
  readonly options: readonly FormatOption[];
  /** What may become of signatures that are there; one that is not listed is rejected before any request. */
  readonly modes: readonly SigningMode[];
  /** The mode if the user names none. */
  readonly defaultMode: SigningMode;
  /** A warning about a signature that is appended to another. */
  readonly appendWarning?: string;
  /** Whether signatures hold `SigningContext.time`: then a second run of the same work looks for the time of the first. */
  readonly signsTime?: boolean;
  /** What the signer's certificate must be for, and `verify` requires of it. */
  readonly purpose: Purpose;
  readonly recognition: Recognition;
  /** Whether a result must have the file's extension, which says how its signature is written. */
  readonly keepsExtension?: boolean;
  /** Set for security catalogs only: their files have `lists`. */
  readonly listsFiles?: true;
  /** As what catalogs list its files, by `SignableFile.listedDigests`; undefined for files that they list by all their bytes. */
  readonly listedAs?: 'program' | 'cabinet';
  /** What a file of this name is, if the format does not sign it although its content fits: a noun phrase. */
  refuses?(name: string): string | undefined;
  /**
   * Reads the layout; a file that is malformed or has no space for a signature fails here, before any request. `name`: of the
   * file as the user gave it; of one that is to be written, the result's.
   */
  open(source: ByteSource, reader: ContentReader, name: string): Promise<SignableFile>;
  /** Looks for a trace of a signature in a file that `open` rejects. Undefined if every file of the format has one. */
  seemsSigned?(source: ByteSource): Promise<boolean>;
}

/** By what a format recognises its files: the content, and the name only if the content fits several formats or says too little. */
export type Recognition =
  | {
      readonly by: 'bytes';
      /** `head`: the first 4096 bytes, fewer if the file is shorter. */
      claims(head: Uint8Array, name: string): boolean;
    }
  | {
      readonly by: 'zip';
      /** In lower case, with `/` at the end: those whose names are read; the names in no folder always are. */
      readonly folders: readonly string[];
      /** `surely`: no other kind of archive has this. `possibly`: the archive is the format's if it is of no other known kind. */
      claims(names: ReadonlySet<string>, name: string): 'surely' | 'possibly' | undefined;
    };

/** What the CMS of a new signature holds. `signature-profile.ts` builds and stamps it, and reads its timestamps. */
export interface SignatureProfile {
  /** Signed attributes in addition to contentType and messageDigest. Nothing random, and no clock but the context's time. */
  signedAttributes(context: SigningContext): readonly Attribute[];
  /** Whether a root that was given goes in too. */
  readonly carriesRoot: boolean;
  /** Unsigned attributes (dotted) under which `verifier` reads timestamps; a new one is written under the first. */
  readonly timestampTypes: readonly [string, ...string[]];
  /** True if `verifier` reads signatures that are nested in the unsigned attributes. */
  readonly readsNested?: boolean;
  /** For messages: `Windows`. */
  readonly verifier: string;
}

/** How the content of one file is read and digested. */
export interface ContentReader {
  readonly measure: MeasureContent;
  /** For formats that are ZIP archives. */
  readonly digestEntries: DigestEntries;
  /** Charged for checks of signatures and certificates. */
  readonly budget: WorkBudget;
}

export interface SignableFile {
  /** Of the signatures made for this file. */
  readonly profile: SignatureProfile;
  /** What the user should know although the file can be signed: a stale table entry, for example. */
  readonly warnings: readonly string[];
  /** Options of its format that do not affect this file; undefined if all do. */
  readonly unusedOptions?: readonly FormatOption[];
  /** The only digest algorithm that verifiers accept for this file, and why as a clause; undefined if any is accepted. */
  readonly fixedAlgorithm?: { readonly algorithm: DigestAlgorithm; readonly reason: string };
  /** The same file, unchanged, through another source: its layout is not read again. */
  reopen(source: ByteSource, reader: ContentReader): SignableFile;
  /** The outer signatures, each with those nested in it; empty when the file is unsigned. */
  signatures(): Promise<readonly EmbeddedSignature[]>;
  /** Throws what makes this signature impossible and can be known without digesting the content. */
  check(context: SigningContext, mode: SigningMode): Promise<void>;
  /** The signatures that an appended one replaces nevertheless; in most formats none. */
  displaced?(context: SigningContext): Promise<readonly EmbeddedSignature[]>;
  /**
   * What `replace` would remove although it is not the user's to make again, as a noun phrase: then the user must choose that mode
   * explicitly. Undefined if there is nothing of that kind; in most formats it never is.
   */
  needsExplicitReplace?(): Promise<string | undefined>;
  /** The files in it that its signature covers and that get signatures of their own, if the options say so. */
  inner?(context: Pick<SigningContext, 'formatOptions'>): Promise<InnerFiles>;
  /**
   * Digests the content and says what is to be signed. The same input gives the same bytes: nothing random, and no clock but
   * `SigningContext.time`. `inner`: what signs files in it, by their names; the signature is over the file with these.
   */
  prepare(
    context: SigningContext,
    mode: SigningMode,
    inner?: ReadonlyMap<string, Embedding>,
  ): Promise<PreparedSignature>;
  /**
   * On the reopened result: the expected envelope is in it, whole, and the digests that the new signature and the one that it
   * is nested in hold are those of the content. Throws `result-damaged`.
   */
  verifyResult(expected: ExpectedEnvelope): Promise<void>;
  /**
   * What is wrong or odd with the file as a whole, apart from each signature: bytes that no signature covers, a wrong checksum,
   * several tables. Empty for a sound file. The content is read once for this and for all signatures.
   */
  examine(): Promise<readonly Finding[]>;
  /** Where signatures are in the file, and what kind of file it is, for people. */
  layout(): readonly Detail[];
  /** The edits that take every signature out, or those of `removable`. Throws `not-signed`. */
  remove(): Promise<Patch>;
  /** What `remove` takes out, in formats whose signatures rest on one another: the last ones. */
  removable?(): Promise<readonly EmbeddedSignature[]>;
  /**
   * The edits that give signatures of this file (as `signatures` returned them, nested ones too) these RFC 3161 tokens, in the
   * place of any timestamp that they have; everything else stays. Formats with `prepareTimestamp` have none.
   */
  stamp(tokens: ReadonlyMap<EmbeddedSignature, Uint8Array>): Promise<Embedding>;
  /**
   * Of formats whose timestamps are of the whole file, and not of single signatures. Undefined if the last change of the file
   * is one already, unless `force`. Throws what makes it impossible.
   */
  prepareTimestamp?(options: DocumentTimestampOptions): Promise<PreparedTimestamp | undefined>;
  /**
   * The edits that put a finished envelope into the file, in the place of those that are there if the format holds only one.
   * Whether it is a signature of this file shows in the result. Throws `not-its-signature` if there is no place for it.
   */
  attach(envelope: Envelope): Promise<Embedding>;
  /** The digests by which security catalogs list this file, if its format has `listedAs`. */
  listedDigests?(algorithms: readonly ContentDigest[]): Promise<Digests>;
  /** Of a security catalog: whether the file is in it, and unchanged. */
  lists?(file: ListedFile): 'listed' | 'changed' | 'not-listed';
}

export interface InnerFiles {
  /** Those that are to be signed first. */
  readonly files: readonly InnerFile[];
  /** Those that are signed, and stay as they are. */
  readonly kept: readonly InnerFile[];
  /** What the user should know of these. */
  readonly warnings: readonly string[];
}

/** A file in another one. */
export interface InnerFile extends Pick<SignableFile, 'fixedAlgorithm'> {
  /** Unique in the other one; may have folders. */
  readonly name: string;
  /** In bytes. */
  readonly size: number;
  open(reader: ContentReader): Promise<SignableFile>;
}

export type Digests = ReadonlyMap<ContentDigest, Uint8Array>;

/** A file as security catalogs list it. */
export interface ListedFile {
  /** Without folders. */
  readonly name: string;
  readonly kind: 'program' | 'cabinet' | 'other';
  /** SHA1 and SHA256. */
  readonly digests: Digests;
}

/** A line for people, and a member for programs. */
export interface Detail {
  /** In words, lower case: `content digest`. */
  readonly name: string;
  /** Raw: may hold control characters. */
  readonly value: string;
}

/** replace: the new signature takes the place of all others. append: all others stay. */
export type SigningMode = 'replace' | 'append';

export interface SigningContext {
  readonly algorithm: DigestAlgorithm;
  /** Digest algorithm of the timestamp that will be requested; undefined for none. */
  readonly timestampAlgorithm?: DigestAlgorithm | undefined;
  /** Bytes to reserve for its token, for formats that fix the space before the content is digested; undefined for none. */
  readonly tokenReserve?: number | undefined;
  readonly chain: SigningChain;
  /** The signed time, for formats that have one: chosen once and journalled, so that another run makes the same bytes. */
  readonly time: Date;
  /** The values of the options that formats declare. */
  readonly formatOptions: FormatOptions;
}

/** A finished signature as it is stored in files: a CMS in DER, or an XML signature. */
export interface Envelope {
  readonly kind: 'cms' | 'xml';
  readonly bytes: Uint8Array;
}

export const cmsEnvelope = (bytes: Uint8Array): Envelope => ({ kind: 'cms', bytes });

export interface PreparedSignature {
  /** The bytes whose digest the service signs. */
  readonly toBeSigned: Uint8Array;
  /** The envelope around the signature value; deterministic. */
  seal(signature: Uint8Array, timestampToken?: Uint8Array): Envelope;
  /** Pure: how a sealed envelope goes into the file, and what the file must hold then. */
  embed(sealed: Envelope): Embedding;
}

export interface DocumentTimestampOptions {
  readonly algorithm: DigestAlgorithm;
  /** Bytes to reserve for the token. */
  readonly tokenReserve: number;
  /** Whether to add another one to a file that has one. */
  readonly force: boolean;
}

export interface PreparedTimestamp {
  /** Digests what the timestamp is of. */
  digest(): Promise<Uint8Array>;
  /** How the token goes into the file, and what the file must hold then. */
  embed(token: Uint8Array): Embedding;
}

export interface ExpectedEnvelope {
  /** The new envelope. */
  readonly sealed: Envelope;
  /**
   * Every envelope that the file holds then: `sealed` itself, or the one that it is nested in; in formats that hold several
   * side by side, all of those.
   */
  readonly standing: readonly Envelope[];
  /** What files in it hold, by their names. */
  readonly inner?: ReadonlyMap<string, ExpectedEnvelope>;
}

export interface Embedding extends ExpectedEnvelope {
  readonly patch: Patch;
}

export interface EmbeddedSignature {
  /** For people: `certificate table, entry 1`, `META-INF/NAME.RSA`, `nested in …`. */
  readonly location: string;
  /** As it is in the file, without what follows it. */
  readonly envelope: Envelope;
  /** Undefined when it cannot be read. */
  readonly signedData: SignedData | undefined;
  /** DER; undefined when the signature does not carry it. */
  readonly signerCertificate: Uint8Array | undefined;
  /** For people: the signer's common name, or issuer and serial number where the certificate is missing. */
  readonly signerName: string;
  /** The weakest digest that it rests on; undefined if the API does not have one of them (MD5, for example) or it cannot be read. */
  readonly algorithm: DigestAlgorithm | undefined;
  readonly nested: readonly EmbeddedSignature[];
  /** Others who signed the same content in the same CMS, or countersigned the signature: a verifier that reads all of them must trust each. */
  readonly coSigners?: readonly EmbeddedSignature[];
  /** Of the signature value, in the order they stand. Usually none or one. */
  readonly timestamps: readonly Timestamp[];
  /** What the format knows of it: description, web page, the content's digest and whether it matches. */
  details(): Promise<readonly Detail[]>;
  /** What is wrong or odd with content, signed attributes and signature value. Says nothing of trust, nor of its timestamps. */
  examine(): Promise<readonly Finding[]>;
}

/** With the nested ones, each behind the one that it is in. */
export function flatten<Signature extends { readonly nested: readonly Signature[] }>(
  signatures: readonly Signature[],
): Signature[] {
  return signatures.flatMap((signature) => [signature, ...flatten(signature.nested)]);
}
