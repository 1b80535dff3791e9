/** The journal records every requested signature, so that none is lost or requested twice. */

import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import type { CodesignError } from '../errors/codesign-error.ts';

/** Key of a signature. Files with the same key use the same signature, even if their names differ. */
export interface Work {
  readonly origin: string;
  /** Number of the certificate at the service. */
  readonly code: string;
  readonly algorithm: DigestAlgorithm;
  readonly digest: string;
}

/** Information about a call for users and reports. This information never contains a credential. */
export interface CallMetadata {
  readonly file: string;
  readonly bytes: number;
  /** Name and SHA-256 fingerprint (hex) of the leaf certificate. */
  readonly certificate: { readonly name: string; readonly sha256: string };
  /** SHA-256 of the access key in hex. Only the credentials that requested a signature can send its report. */
  readonly client: string;
  readonly signingOptions: RecordedSigningOptions;
}

/** Everything that `resume` needs to prepare exactly the same bytes again. The paths are absolute. */
export interface RecordedSigningOptions {
  readonly path: string;
  readonly output: string;
  readonly existing?: 'replace' | 'append' | 'skip' | undefined;
  readonly formatOptions: Readonly<Record<string, string | true>>;
  /** Name of the inner file that the signature is for; undefined if it is for the file itself. */
  readonly inner?: string | undefined;
  /** Signing time in ISO 8601. In some formats, the signature covers that time. */
  readonly time: string;
  readonly report: boolean;
  /** Which files inside the file were to be signed (`--inside`). The path of the policy is absolute. */
  readonly inside?: { readonly exclude: readonly string[]; readonly policy?: string | undefined } | undefined;
  /** The path with which the rules of the policy are compared. */
  readonly pathInFolder?: string | undefined;
}

export type RecordedInside = NonNullable<RecordedSigningOptions['inside']>;

export interface SignatureOnRecord {
  readonly signature: Uint8Array;
  /** Id of the service's record; undefined if the service returned none. */
  readonly record: string | undefined;
}

/** Describes a file that needs a signature, and the work that the signature is for. */
export interface ClaimRequest {
  readonly work: Work;
  readonly metadata: CallMetadata;
  verifies(signature: Uint8Array): boolean;
  /**
   * Creates the error for a certificate that does not match its number. `calls`: ids of the calls that showed the
   * mismatch. `isOfAll`: no signature for this number has ever verified with the certificate, so the run stops.
   */
  mismatch(calls: readonly string[], isOfAll: boolean): CodesignError;
}

export interface Waiting {
  /** If the signal is aborted, `known` throws `claim-interrupted`. */
  readonly signal?: AbortSignal | undefined;
  /** This function is called once with a description of the other process, such as "process 4711 on build-3". */
  readonly onWait?: ((whom: string) => void) | undefined;
}

/** The report that must be sent now, after a file was written or failed, and the last report that was sent. */
export interface AfterFile {
  readonly reportDue: 1 | 2 | undefined;
  readonly reported: 1 | 2 | undefined;
}

export type Reported = 1 | 2 | 'not-wanted';

/** One file in a call that has a signature. */
export interface SharedCall {
  readonly id: string;
  /** Records the timestamp before the file is renamed. The last of several timestamps counts. */
  stamped(token: Uint8Array): Promise<void>;
  /** `sha256`: digest of the written file in hex. If this fails, `Journal.warnings` says so, and nothing is thrown. */
  written(sha256?: string): Promise<AfterFile>;
  /**
   * Keeps the signature for the next file with the same work, at any age. But if `changed` is true and another file has
   * written the same output with this signature, this file no longer needs it. Throws if the signature is not recorded.
   */
  notWritten(reason: string, changed?: boolean): Promise<AfterFile>;
  /** A call stays `unreported` until this step is recorded. Never throws. */
  reported(status: Reported): Promise<void>;
}

export interface KnownCall extends SharedCall {
  readonly known: SignatureOnRecord & { readonly token: Uint8Array | undefined };
}

/**
 * Permission to request the signature of a work. The usual steps are requested, mayBeSent, signed, written, reported.
 * Each promise resolves after its step has been committed. `refused`, `unanswered`, `unusable` and `release` end the
 * claim.
 */
export interface Claim extends SharedCall {
  readonly known: undefined;
  /** Ids of earlier calls that may have been counted; each id causes a warning. */
  readonly unknownCalls: readonly string[];
  /** If this certificate has already verified a signature, a failure of the first request does not stop the run. */
  readonly isProven: boolean;
  /**
   * The caller must call this function before each attempt. If it throws, nothing may be sent. `repeated`: the previous
   * attempt may have been counted.
   */
  requested(repeated?: boolean): Promise<void>;
  /**
   * The caller must call this function directly before the first byte is sent. If this function throws, nothing may be
   * sent (see the README).
   */
  mayBeSent(): void;
  /** The attempt certainly did not make a signature, and another attempt will follow. */
  deferred(): Promise<void>;
  /**
   * Records a signature that verifies. If the record cannot be written, the signature stays in memory, and this run
   * sends no more requests. `surplus`: another process has taken over the call, so the signature is kept only for
   * `resume`, and no other step of this claim may follow.
   */
  signed(given: SignatureOnRecord): Promise<'signed' | 'surplus'>;
  /** Records a signature that does not verify: a later claim may have the right certificate. */
  unusable(given: SignatureOnRecord, reason: string): Promise<void>;
  /** It is certain that no signature was made. */
  refused(reason: string): Promise<void>;
  /** The service may have made a signature, but none arrived. */
  unanswered(reason: string): Promise<void>;
  /** Ends a claim that has no request in progress, unless another step has ended it. Never throws. */
  release(): Promise<void>;
}

/**
 * `under-way`: a running process is working on the call. `unwritten`: the signature exists, but a file that needs it
 * has not been written. `unreported`: everything is done except the report. `unknown`: it is not known whether the call
 * was counted. `surplus`: the response arrived after another process took over the work, and a failure report is due.
 */
export type UnfinishedKind = 'under-way' | 'unwritten' | 'unreported' | 'unknown' | 'surplus';

export interface UnfinishedCall {
  readonly id: string;
  readonly kind: UnfinishedKind;
  readonly at: string;
  readonly work: Work;
  readonly metadata: Omit<CallMetadata, 'signingOptions'>;
  readonly files: readonly SharingFile[];
  readonly record?: string | undefined;
  readonly reportDue?: 1 | 2 | undefined;
  /** Reason why the outcome is unknown; undefined if the process ended before it could record a reason. */
  readonly reason?: string | undefined;
}

export interface SharingFile {
  readonly file: string;
  readonly written: boolean;
  /** The signature does not verify with the certificate for which it was requested. */
  readonly unusable: boolean;
  readonly reason?: string | undefined;
  readonly signingOptions: RecordedSigningOptions;
}

export const CALL_OUTCOMES = [
  ...(['under-way', 'unwritten', 'unreported', 'unknown', 'surplus'] satisfies UnfinishedKind[]),
  ...(['written', 'refused', 'unusable', 'given-up'] as const),
] as const;
export type CallOutcome = (typeof CALL_OUTCOMES)[number];

export interface HistoryEntry extends Work, Pick<CallMetadata, 'file' | 'bytes' | 'certificate'> {
  readonly id: string;
  readonly at: string;
  readonly ended?: string | undefined;
  readonly filesWritten: number;
  /** SHA-256 of each written file in hex, without duplicates, at most 1000. */
  readonly sha256?: readonly string[] | undefined;
  readonly record?: string | undefined;
  readonly outcome: CallOutcome;
  readonly counted: 'yes' | 'no' | 'unknown';
  /** True if the request was sent again after an unknown outcome, so that it may have been counted twice. */
  readonly repeated?: boolean | undefined;
  readonly reported?: 1 | 2 | undefined;
  readonly reason?: string | undefined;
}

export interface Journal {
  /**
   * Returns the recorded signature for this file to use; undefined if the caller must call `claim`. Waits while
   * another file or process requests the signature. Meanwhile the caller must not hold a permit to send a request. Throws
   * `just-unanswered`, `work-held`, `claim-interrupted`, or the error that `request.mismatch` creates.
   */
  known(request: ClaimRequest, waiting?: Waiting): Promise<KnownCall | undefined>;
  /** Returns undefined if the caller must call `known` again, because the signature was recorded or claimed meanwhile. */
  claim(request: ClaimRequest): Promise<Claim | undefined>;
  /** Returns the signing options of the files that have the signature `known` would return. Never waits. */
  knownFor(work: Work): Promise<readonly RecordedSigningOptions[]>;
  /** The calls are sorted from the oldest to the newest, and belong to all services and clients. */
  unfinished(): Promise<readonly UnfinishedCall[]>;
  /** Calls whose signatures the same command can use if it runs again: unfinished ones, and those of failed runs. */
  repeatable(): Promise<readonly Pick<UnfinishedCall, 'work' | 'files'>[]>;
  history(): AsyncIterable<HistoryEntry>;
  /** Records that a report for a call of an earlier run has been sent. Returns false if the call does not exist. */
  reported(id: string, status: Reported): Promise<boolean>;
  /**
   * Discards a call permanently, with the mismatch that it may have shown. `report`: the status that must be sent next;
   * until `reported` records it, the call is `unreported`.
   */
  forget(id: string, report?: 1 | 2): Promise<'forgotten' | 'not-found' | 'under-way'>;
  /**
   * Ends a run, even if it failed or was interrupted. Commits the remaining entries, and hands calls over to other runs
   * that use them. Adds a warning for each signature that cannot be committed. Never throws.
   */
  close(): Promise<void>;
  /**
   * Records, after `close`, that the run succeeded. Without this record, runs that start within a week reuse the
   * finished calls. Synchronous, so that it can be the last action of a process; never throws. If `isWell` is false,
   * this only closes the files.
   */
  ended(isWell?: boolean): void;
  readonly warnings: readonly string[];
}

export type JournalReading = Pick<Journal, 'unfinished' | 'history' | 'warnings'> & Disposable;
