/** The seam to the journal: every signature requested from the service, so that none is lost or requested twice. */

import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import type { CodesignError } from '../errors/codesign-error.ts';

/** What identifies the work: whatever the file is called, the same work has the same signature. */
export interface Work {
  /** Scheme, host and port of the service. */
  readonly origin: string;
  /** Number of the certificate at the service. */
  readonly code: string;
  readonly algorithm: DigestAlgorithm;
  /** The digest to be signed, in hex. */
  readonly digest: string;
}

/** What is kept of a call in addition to its work, for people and for reports. Never a credential. */
export interface CallMetadata {
  /** The file as the user named it. */
  readonly file: string;
  readonly bytes: number;
  /** The leaf: its name and the SHA-256 of its DER, in hex. */
  readonly certificate: { readonly name: string; readonly sha256: string };
  /** SHA-256 of the access key, in hex: a report goes out only with the credentials that the signature came from. */
  readonly client: string;
  /** For `resume`, which must prepare the very same; undefined where that is not wanted. */
  readonly signingOptions?: RecordedSigningOptions | undefined;
}

/** Where a file is, where its result goes, and which options the bytes to be signed or written depend on. */
export interface RecordedSigningOptions {
  /** Both absolute; the same when signing in place. */
  readonly path: string;
  readonly output: string;
  /** Undefined for the default mode of the format. */
  readonly existing?: 'replace' | 'append' | 'skip' | undefined;
  /** By the key of the option. */
  readonly formatOptions: Readonly<Record<string, string | true>>;
  /** Name of the file in the file that the signature is for; undefined for the file itself. */
  readonly inner?: string | undefined;
  /** Signed by formats that sign a time, as ISO 8601. */
  readonly time?: string | undefined;
  /** False: no report is sent to the service. */
  readonly report?: boolean | undefined;
}

export interface SignatureOnRecord {
  readonly signature: Uint8Array;
  /** The service's record id; undefined when it gave none. */
  readonly record: string | undefined;
  /** The timestamp that was recorded for the same file, or else for another one. */
  readonly token?: Uint8Array | undefined;
}

export interface ClaimOptions {
  /** Ends the wait for another process; `claim` then throws `claim-interrupted`. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Returns the error that `claim` throws if the journal's signature for the work does not verify with the certificate; `call`
   * is the call that it came from. Default: it verifies.
   */
  readonly findMismatch?: ((known: SignatureOnRecord, call: string) => CodesignError | undefined) | undefined;
  /** Called once with the process that the claim waits for, in words: "process 4711 on build-3". */
  readonly onWait?: ((whom: string) => void) | undefined;
}

/** How it stands with a signature when a file is done with it. */
export interface AfterFile {
  /** Every file that shares it is written, so the caller reports 1 now, and then calls `reported`. */
  readonly reportDue: boolean;
  /** What has been reported to the service so far. */
  readonly reported: 1 | 2 | undefined;
}

/** How a call was, or was not, reported to the service. */
export type Reported = 1 | 2 | 'not-wanted';

/**
 * One file's part in one call. The usual way: requested, signed, written, reported; with `known`, written, reported. Each
 * method's promise resolves when the step is in the journal; those that guard a signature, when it is on the disk.
 */
export interface Claim {
  /** The journal's own id of the call, for people: `resume --forget <id>`. */
  readonly id: string;
  /** Given for this work earlier, or just now to another file or process: no request is needed. */
  readonly known: SignatureOnRecord | undefined;
  /** Ids of earlier calls for this work whose outcome is unknown: they may have been counted. */
  readonly unknownCalls: readonly string[];
  /** One of them was made by this process, or by one that this claim waited for: asking now would be a repeat. */
  readonly justUnanswered: boolean;

  /** Directly before each request, which must not be sent when this throws. */
  requested(): Promise<void>;
  /** The request made no signature for certain, and is to be repeated: until then nothing is under way. */
  deferred(): Promise<void>;
  signed(given: Pick<SignatureOnRecord, 'signature' | 'record'>): Promise<void>;
  /**
   * The timestamp of the signature, of a file in another one: the signature of that one is over it, and so is lost with it.
   * The last one that is recorded for a file counts.
   */
  stamped(token: Uint8Array): Promise<void>;
  /** Certainly no signature was made: the service refused, or the request never left. Ends the claim. */
  refused(reason: string): Promise<void>;
  /** The request may have been answered with a signature that never arrived. Ends the claim. */
  unanswered(reason: string): Promise<void>;
  /**
   * The signature does not verify with the certificate of this claim's metadata. It stays for a claim with the right one.
   * Ends the claim; its report is pending, unless `reported(2)` follows.
   */
  unusable(reason: string): Promise<void>;
  /** `sha256`: of the written file, in hex. */
  written(target: string, sha256?: string): Promise<AfterFile>;
  /**
   * The file could not be written or timestamped: the signature stays, and is `known` to the next claim of the work. But
   * where another file that shares it was written to the same place meanwhile, or before this one was found `changed`,
   * this one has nothing left to wait for.
   */
  notWritten(reason: string, changed?: boolean): Promise<AfterFile>;
  /** The report has been sent, or is not wanted. Without this step a call stays `unreported`. */
  reported(status: Reported): Promise<void>;
  /** This file is left alone, and nothing was requested for it. */
  release(): Promise<void>;
}

/**
 * `under-way`: a process that runs is at it. `unwritten`: there is a signature, and a file that waits for it.
 * `unreported`: written; only the report is missing. `unknown`: may have been counted.
 */
export type UnfinishedKind = 'under-way' | 'unwritten' | 'unreported' | 'unknown';

export interface UnfinishedCall {
  readonly id: string;
  readonly kind: UnfinishedKind;
  /** When the claim was made, as ISO 8601. */
  readonly at: string;
  readonly work: Work;
  /** Of the file that the signature was requested for. */
  readonly metadata: CallMetadata;
  /** Every file that shares the signature, as its user named it. */
  readonly files: readonly SharingFile[];
  readonly record: string | undefined;
  /** Why the outcome is unknown; undefined if its process ended before it could record it. */
  readonly reason: string | undefined;
}

export interface SharingFile {
  readonly file: string;
  readonly written: boolean;
  /** The signature does not verify under the certificate that it was requested with. */
  readonly unusable: boolean;
  /** Why it is not written; undefined if unknown. */
  readonly reason: string | undefined;
  readonly signingOptions: RecordedSigningOptions | undefined;
}

/** Of a call that is over, or the kind of one that is not. */
export const CALL_OUTCOMES = [
  'under-way',
  'unwritten',
  'unreported',
  'unknown',
  'written',
  'refused',
  'unusable',
  'given-up',
] as const;
export type CallOutcome = (typeof CALL_OUTCOMES)[number];

export interface HistoryEntry extends Work, Pick<CallMetadata, 'file' | 'bytes' | 'certificate'> {
  readonly id: string;
  /** When the claim was made, and when the call was over, as ISO 8601; `ended` is undefined for a call that is not. */
  readonly at: string;
  readonly ended?: string | undefined;
  /** Files that were signed with this one signature. */
  readonly filesWritten: number;
  /** SHA-256 of these files, in hex: each once, the first 1000 at most. */
  readonly sha256?: readonly string[] | undefined;
  readonly record?: string | undefined;
  readonly outcome: CallOutcome;
  readonly counted: 'yes' | 'no' | 'unknown';
  /** What was reported to the service; undefined if nothing was. */
  readonly reported?: 1 | 2 | undefined;
  /** Of what did not go well. */
  readonly reason?: string | undefined;
}

export interface Journal {
  /**
   * The right to ask for this work's signature, or the signature itself. Waits while another file or process is asking
   * for it. Throws `journal-unusable`, `journal-full`, `claim-interrupted`, and what `findMismatch` returns for a signature that
   * is not in a file yet.
   */
  claim(work: Work, metadata: CallMetadata, options?: ClaimOptions): Promise<Claim>;
  /** Signing options of the files whose signature a claim of this work would know; empty if it would know none. */
  knownFor(work: Work): Promise<readonly RecordedSigningOptions[]>;
  /** Unordered, and of any origin and client. */
  unfinished(): Promise<readonly UnfinishedCall[]>;
  /** The unfinished ones, and those of runs that did not end well: the signatures that a repeated run may find again. */
  repeatable(): Promise<readonly Pick<UnfinishedCall, 'work' | 'files'>[]>;
  /** Every call, newest last: those that are over in the order in which they ended, with the others among them. Read as a stream. */
  history(): AsyncIterable<HistoryEntry>;
  /** A report that an earlier run left has been sent. False when there is no such call. */
  reported(id: string, status: Reported): Promise<boolean>;
  /**
   * Gives a call up for good: its signature is not used any more, and a mismatch that it showed no longer counts. `reported`:
   * what was reported to the service.
   */
  forget(id: string, reported?: Reported): Promise<'forgotten' | 'not-found' | 'under-way'>;
  /** Whether a signature of this certificate number has verified with this certificate, at this service, before. */
  isProven(pair: Pair): Promise<boolean>;
  /** Ids of calls that prove that number and certificate do not belong together. None if they may. */
  mismatches(pair: Pair): Promise<readonly string[]>;
  /**
   * Notes that this run ended well; never throws. What a run without this note has finished (it was killed or interrupted,
   * a file failed, its output was lost) is `known` to runs that start within a week: the same command requests nothing
   * twice. Synchronous, so that a process can note it as its last action.
   */
  ended(): void;
  /** What is odd: damaged entries, a folder that others may write to. Grows as things are found. */
  readonly warnings: readonly string[];
}

/** A certificate number of a service, and a certificate. */
export interface Pair extends Pick<Work, 'origin' | 'code'> {
  /** SHA-256 of the leaf's DER, in hex. */
  readonly leaf: string;
}
