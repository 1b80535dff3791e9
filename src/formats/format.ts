/** THE FORMAT SEAM: what a file format must know so that its files can be signed. Types only. */

import type { ByteSource } from '../bytes/byte-source.ts';
import type { Patch } from '../bytes/patch.ts';
import type { Purpose } from '../certificates/purpose.ts';
import type { SigningChain } from '../certificates/signing-chain.ts';
import type { SignedData } from '../cms/parse-signed-data.ts';
import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import type { MeasureContent } from '../crypto/content.ts';
import type { WorkBudget } from '../crypto/work-budget.ts';
import type { Finding } from '../errors/finding.ts';
import type { Timestamp } from '../timestamp/timestamp.ts';
import type { DigestEntries } from '../zip/entry-digests.ts';
import type { FormatOption } from './format-options.ts';

export interface Format {
  /** Short word for JSON and messages: `pe`, `jar`. */
  readonly id: string;
  readonly title: string;
  /** With the dot, lower case. For documentation and for folders; never decides what a file is. */
  readonly extensions: readonly string[];
  /** Those of its own. Formats that share an option declare the same object. */
  readonly options: readonly FormatOption[];
  /** What may become of signatures that are there; one that is not listed is rejected before any request. */
  readonly modes: readonly SigningMode[];
  /** The mode if the user names none. */
  readonly defaultMode: SigningMode;
  /** What the signer's certificate must be for, and `verify` requires of it. */
  readonly purpose: Purpose;
  /**
   * Whether these bytes are this format's to judge. `head` is the first 4096 bytes, fewer when the file is shorter.
   * `name`, the file's, decides only where the bytes fit several formats or say too little.
   */
  detect(head: Uint8Array, source: ByteSource, name: string): Promise<boolean>;
  /** Reads the layout; a file that is malformed or has no room for a signature fails here, before any request. */
  open(source: ByteSource, options: OpenOptions): Promise<SignableFile>;
}

export interface OpenOptions extends ReadOptions {
  /** Of the file as the user gave it; of one that is to be written, the result's. */
  readonly name: string;
}

/** How a file is read. */
export interface ReadOptions {
  readonly measure: MeasureContent;
  /** For formats that are ZIP archives. */
  readonly digestEntries: DigestEntries;
  /** Charged for checks of signatures and certificates; undefined: the opened file gets a budget of its own. */
  readonly budget?: WorkBudget | undefined;
}

export interface SignableFile {
  /** What the user should hear of although the file can be signed: a stale table entry, say. Whole sentences. */
  readonly warnings: readonly string[];
  /** The same file, unchanged, through another source: its layout is not read again. */
  reopen(source: ByteSource, options: OpenOptions): SignableFile;
  /** The outer signatures, each with those nested in it; empty when the file is unsigned. */
  signatures(): Promise<readonly EmbeddedSignature[]>;
  /** Throws what makes this signature impossible and can be known without digesting the content. */
  judge(context: SigningContext, mode: SigningMode): Promise<void>;
  /** Whose places an appended signature takes all the same, of those that are there; in most formats none. */
  yielding?(context: SigningContext): Promise<readonly EmbeddedSignature[]>;
  /** Digests the content and says what is to be signed. Same input, same bytes: nothing random, no clock. */
  prepare(context: SigningContext, mode: SigningMode): Promise<PreparedSignature>;
  /**
   * On the reopened result: the envelope in it is the expected one, whole, and the digests that the new signature and the
   * one it stands beside have signed are those of the content. Throws `result-damaged` otherwise.
   */
  check(expected: ExpectedEnvelope): Promise<void>;
  /**
   * What is wrong or odd with the file as a whole, beside each signature: bytes that no signature covers, a wrong checksum,
   * several tables. Empty when all is as it should be. The content is read once for this and for all signatures.
   */
  examine(): Promise<readonly Finding[]>;
  /** Where signatures are in the file and in what, for people. */
  layout(): readonly Detail[];
  /** The edits that take every signature out. Throws `not-signed`. */
  remove(): Promise<Patch>;
  /**
   * The edits that give signatures of this file (as `signatures` gave them, nested ones too) these RFC 3161 tokens, in the
   * place of any timestamp they have; everything else stays.
   */
  stamp(tokens: ReadonlyMap<EmbeddedSignature, Uint8Array>): Promise<Embedding>;
  /**
   * The edits that put a finished envelope into the file, in the place of those that are there where the format holds one.
   * Throws `not-its-signature` when it is not a signature of this file's content.
   */
  attach(cms: Uint8Array): Promise<Embedding>;
}

/** A line for people, and a member for programs. */
export interface Detail {
  /** In words, lower case: `content digest`. */
  readonly name: string;
  /** Raw: may hold control characters. */
  readonly value: string;
}

/** replace: every signature goes, the new one takes their place. append: all stay, the new one stands beside them. */
export type SigningMode = 'replace' | 'append';

export interface SigningContext {
  readonly algorithm: DigestAlgorithm;
  /** Of the timestamp that will be asked for; undefined for none. */
  readonly timestampAlgorithm?: DigestAlgorithm | undefined;
  readonly chain: SigningChain;
  /** The program's name shown to users (Authenticode), where the format has a place for it. */
  readonly description?: string | undefined;
  /** The program's web page (Authenticode), absolute. */
  readonly url?: string | undefined;
  /** What names the signature's files (JAR); undefined for a name made of the certificate's. */
  readonly signerName?: string | undefined;
  /** Whether to sign although the format's verifiers will take the result as unsigned. */
  readonly allowUnsignedResult?: boolean | undefined;
}

export interface PreparedSignature {
  /** The bytes whose digest the service signs. */
  readonly toBeSigned: Uint8Array;
  /** The envelope (CMS, DER) round the signature value; deterministic. */
  seal(signature: Uint8Array, timestampToken?: Uint8Array): Uint8Array;
  /** Pure: how a sealed envelope goes into the file, and what the file must hold then. */
  embed(sealed: Uint8Array): Embedding;
}

export interface ExpectedEnvelope {
  /** The new envelope. */
  readonly sealed: Uint8Array;
  /**
   * Every envelope that stands in the file then: `sealed` itself, or the one that it nests in; in formats that hold
   * several side by side, all of those.
   */
  readonly standing: readonly Uint8Array[];
}

export interface Embedding extends ExpectedEnvelope {
  /** The edits. */
  readonly patch: Patch;
}

export interface EmbeddedSignature {
  /** Where it stands, for people: `certificate table, entry 1`, `META-INF/NAME.RSA`, `nested in …`. */
  readonly place: string;
  /** The signature's CMS as it stands there, without what follows it. */
  readonly cms: Uint8Array;
  /** Undefined when it cannot be read. */
  readonly signedData: SignedData | undefined;
  /** DER; undefined when the signature does not carry it. */
  readonly signerCertificate: Uint8Array | undefined;
  /** For people: the signer's common name, or issuer and serial number where the certificate is missing. */
  readonly signerName: string;
  /** The weakest digest that it rests on; undefined when one is none of the API's (MD5, say) or it cannot be read. */
  readonly algorithm: DigestAlgorithm | undefined;
  readonly nested: readonly EmbeddedSignature[];
  /** Others who signed the same content in the same CMS: a verifier that reads all of them must trust each. */
  readonly coSigners?: readonly EmbeddedSignature[];
  /** Of the signature value, in the order they stand. Usually none or one. */
  readonly timestamps: readonly Timestamp[];
  /** What the format knows of it: description, web page, the content's digest and whether it matches. */
  details(): Promise<readonly Detail[]>;
  /** What is wrong or odd with content, signed attributes and signature value. Says nothing of trust, nor of its timestamps. */
  examine(): Promise<readonly Finding[]>;
}
