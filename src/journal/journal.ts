/** The seam to the journal: every signature requested from the service, so that none is lost or requested twice. */

import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import type { CodesignError } from '../errors/codesign-error.ts';

/** Whatever the file is called, the same work has the same signature. */
export interface Work {
  /** Scheme, host and port of the service. */
  readonly origin: string;
  /** Number of the certificate at the service. */
  readonly code: string;
  readonly algorithm: DigestAlgorithm;
  /** In hex. */
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
  readonly signingOptions?: RecordedSigningOptions | undefined;
}

/** For `resume`, which must prepare the very same: where a file is, where its result goes, and what its bytes depend on. */
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
}

/** A file that needs the signature of a work. */
export interface Asking {
  readonly work: Work;
  readonly metadata: CallMetadata;
  /** Whether a signature that the journal has for the work verifies with the certificate of `metadata`. */
  verifies(signature: Uint8Array): boolean;
  /**
   * The error for what `verifies` rejects, and for a certificate that does not match. `calls`: ids of the calls that show it.
   * `isOfAll`: the certificate number never matched this certificate, so other files need not ask.
   */
  mismatch(calls: readonly string[], isOfAll: boolean): CodesignError;
}

export interface Waiting {
  /** Ends the wait; `known` then throws `claim-interrupted`. */
  readonly signal?: AbortSignal | undefined;
  /** Called once with the process that the file waits for, in words: "process 4711 on build-3". */
  readonly onWait?: ((whom: string) => void) | undefined;
}

/** The reports to the service after a file was written or has failed: the status to send now, and the last one sent. */
export interface AfterFile {
  readonly reportDue: 1 | 2 | undefined;
  readonly reported: 1 | 2 | undefined;
}

export type Reported = 1 | 2 | 'not-wanted';

/** Why a request brought no usable signature. */
export interface Failure {
  readonly reason: string;
  readonly httpStatus?: number | undefined;
  readonly serviceCode?: number | undefined;
}

/** One file's part in a call that has its signature. What nothing waits for joins the next commit. */
export interface SharedCall {
  /** The journal's own id of the call, for people: `resume --forget <id>`. */
  readonly id: string;
  /** The timestamp of the signature, committed before the file is renamed. The last one counts. */
  stamped(token: Uint8Array): Promise<void>;
  /** `sha256`: of the written file, in hex. Nothing waits for it. A failure is a warning in `Journal.warnings`. */
  written(target: string, sha256?: string): Promise<AfterFile>;
  /**
   * The signature stays, and is `known` to the next file of the work, at any age. But where another file was written to the same
   * place with it, and this one was found `changed`, it is given up. Throws if the journal could not record the signature.
   */
  notWritten(reason: string, changed?: boolean): Promise<AfterFile>;
  /** Without it a call stays `unreported`. Nothing waits for it, and it never throws. */
  reported(status: Reported): Promise<void>;
}

/** A signature that is on record for the work, and its timestamp. */
export interface KnownCall extends SharedCall {
  readonly known: SignatureOnRecord & { readonly token: Uint8Array | undefined };
}

/**
 * The right to request the signature of a work. The usual way: requested, mayBeSent, signed, written, reported. Each promise
 * resolves after the commit. `refused`, `unanswered`, `unusable` and `release` end the claim.
 */
export interface Claim extends SharedCall {
  readonly known: undefined;
  /** Ids of earlier calls for this work whose outcome is unknown: they may have been counted. Each deserves a warning. */
  readonly unknownCalls: readonly string[];
  /** Whether a signature of this certificate number has verified with this certificate before: a first failure then stops no run. */
  readonly isProven: boolean;
  /**
   * Before each attempt, which must not be sent when this throws: `claim-lost`, `journal-full`, `journal-unusable`. `repeated`: the
   * attempt before it may have been counted; it never becomes `unknown` in between.
   */
  requested(repeated?: boolean): Promise<void>;
  /** Synchronously before the first byte of an attempt, which must not be sent when this throws: see the README. */
  mayBeSent(): void;
  /** The attempt certainly made no signature, and is to be repeated. */
  deferred(failure?: Failure): Promise<void>;
  /**
   * The signature has verified. If this throws, it stays in memory, and this run makes no more requests. `surplus`: another process
   * has the work now; the signature is kept for `resume` only, and the other steps of this claim do nothing.
   */
  signed(given: SignatureOnRecord): Promise<'signed' | 'surplus'>;
  /** The signature does not verify. It stays for a claim with the right certificate. */
  unusable(given: SignatureOnRecord, reason: string): Promise<void>;
  /** Certainly no signature was made. */
  refused(failure: Failure): Promise<void>;
  /** The request may have been answered with a signature that never arrived. */
  unanswered(failure: Failure): Promise<void>;
  /** Nothing is under way. Does nothing after another last step. Never throws. */
  release(): Promise<void>;
}

/**
 * `under-way`: a process that runs is at it. `unwritten`: there is a signature, and a file that waits for it. `unreported`: only
 * the report is missing. `unknown`: may have been counted. `surplus`: an answer that came after another process had taken the
 * work over; its report 2 is due.
 */
export type UnfinishedKind = 'under-way' | 'unwritten' | 'unreported' | 'unknown' | 'surplus';

export interface UnfinishedCall {
  readonly id: string;
  readonly kind: UnfinishedKind;
  /** Time of the claim. */
  readonly at: string;
  readonly work: Work;
  /** Of the file that the signature was requested for. */
  readonly metadata: Omit<CallMetadata, 'signingOptions'>;
  readonly files: readonly SharingFile[];
  readonly record?: string | undefined;
  readonly reportDue?: 1 | 2 | undefined;
  /** Why the outcome is unknown; undefined if its process ended before it could record it. */
  readonly reason?: string | undefined;
}

/** A file that has a part in a call, as its user named it. */
export interface SharingFile {
  readonly file: string;
  readonly written: boolean;
  /** The signature does not verify with the certificate that it was requested with. */
  readonly unusable: boolean;
  /** Why it is not written. */
  readonly reason?: string | undefined;
  readonly signingOptions?: RecordedSigningOptions | undefined;
}

/** Of a call that is over, or the kind of one that is not. */
export const CALL_OUTCOMES = [
  ...(['under-way', 'unwritten', 'unreported', 'unknown', 'surplus'] satisfies UnfinishedKind[]),
  ...(['written', 'refused', 'unusable', 'given-up'] as const),
] as const;
export type CallOutcome = (typeof CALL_OUTCOMES)[number];

export interface HistoryEntry extends Work, Pick<CallMetadata, 'file' | 'bytes' | 'certificate'> {
  readonly id: string;
  /** Times of the claim, and of the end of a call that is over. */
  readonly at: string;
  readonly ended?: string | undefined;
  readonly filesWritten: number;
  /** SHA-256 of the written files, in hex: each once, the first 1000 at most. */
  readonly sha256?: readonly string[] | undefined;
  readonly record?: string | undefined;
  readonly outcome: CallOutcome;
  readonly counted: 'yes' | 'no' | 'unknown';
  /** True if the request was sent once more after its outcome was unknown: it may have been counted twice. */
  readonly repeated?: boolean | undefined;
  readonly reported?: 1 | 2 | undefined;
  readonly reason?: string | undefined;
}

/** The journal as one run uses it. */
export interface Journal {
  /**
   * The signature that is on record for the work, which this file now shares, or undefined: then claim it. Waits, without a permit
   * of the gate, while another file or process requests it. Throws `just-unanswered`, `work-held`, `claim-interrupted`,
   * `journal-unusable`, `journal-full`, and what `asking.mismatch` returns.
   */
  known(asking: Asking, waiting?: Waiting): Promise<KnownCall | undefined>;
  /** The right to request the signature; undefined if there is something to wait for or to share by now: ask `known` again. */
  claim(asking: Asking): Promise<Claim | undefined>;
  /** Signing options of the files whose signature `known` would give. Waits for nothing. */
  knownFor(work: Work): Promise<readonly RecordedSigningOptions[]>;
  /** Oldest first, and of any origin and client. */
  unfinished(): Promise<readonly UnfinishedCall[]>;
  /** The unfinished ones, and those of runs that did not end well: the signatures that a repeated run may find again. */
  repeatable(): Promise<readonly Pick<UnfinishedCall, 'work' | 'files'>[]>;
  /** Every call, in the order of the claims, newest last. Read as a stream. */
  history(): AsyncIterable<HistoryEntry>;
  /** A report that an earlier run left has been sent. False when there is no such call. */
  reported(id: string, status: Reported): Promise<boolean>;
  /**
   * Gives a call up for good: its signature is not used any more, and a mismatch that it showed no longer counts. `report`: the
   * status that is to be sent then. Until `reported` notes that it was, the call is `unreported`.
   */
  forget(id: string, report?: 1 | 2): Promise<'forgotten' | 'not-found' | 'under-way'>;
  /**
   * At the end of every run, also of one that failed or is interrupted: commits what is left, and hands calls over to the runs that
   * share them. Never throws: what could not be committed is a warning with id and record.
   */
  close(): Promise<void>;
  /**
   * Notes that this run ended well, after `close`. What a run without this note has finished (it was killed, a file failed, its
   * output was lost) is `known` to runs that start within a week: the same command requests nothing twice. Synchronous, for the last
   * action of a process, and never throws. With `isWell` false it only closes the files.
   */
  ended(isWell?: boolean): void;
  /** What is odd. Grows as things are found. */
  readonly warnings: readonly string[];
}

/** What reading needs, and nothing that changes the journal. */
export type JournalReading = Pick<Journal, 'unfinished' | 'history' | 'warnings'> & Disposable;
