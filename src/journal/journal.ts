/** The journal interface: every requested signature is recorded, so that none is lost or requested twice. */

import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import type { CodesignError } from '../errors/codesign-error.ts';

/** Files with the same work share one signature, whatever their names. */
export interface Work {
  readonly origin: string;
  /** Certificate number at the service. */
  readonly code: string;
  readonly algorithm: DigestAlgorithm;
  readonly digest: string;
}

/** Information about a call for users and reports; never contains a credential. */
export interface CallMetadata {
  readonly file: string;
  readonly bytes: number;
  /** Name and SHA-256 fingerprint (hex) of the leaf certificate. */
  readonly certificate: { readonly name: string; readonly sha256: string };
  /** SHA-256 of the access key, in hex. Reports are sent only with the credentials that requested the signature. */
  readonly client: string;
  readonly signingOptions?: RecordedSigningOptions | undefined;
}

/** Everything that `resume` needs to prepare the same bytes again. */
export interface RecordedSigningOptions {
  /** Absolute, like `output`; both are equal when signing in place. */
  readonly path: string;
  readonly output: string;
  readonly existing?: 'replace' | 'append' | 'skip' | undefined;
  readonly formatOptions: Readonly<Record<string, string | true>>;
  /** Name of the inner file for which the signature is; undefined for the file itself. */
  readonly inner?: string | undefined;
  /** Signing time in ISO 8601, for formats that sign it. */
  readonly time?: string | undefined;
  readonly report?: boolean | undefined;
}

export interface SignatureOnRecord {
  readonly signature: Uint8Array;
  /** Record id at the service; undefined if the service returned none. */
  readonly record: string | undefined;
}

export interface Asking {
  readonly work: Work;
  readonly metadata: CallMetadata;
  verifies(signature: Uint8Array): boolean;
  /**
   * Creates the error for a certificate that does not match, or whose signatures `verifies` rejects. `calls`: ids of
   * the calls that show the mismatch. `isOfAll`: the certificate number never matched this certificate, so other files
   * need not try.
   */
  mismatch(calls: readonly string[], isOfAll: boolean): CodesignError;
}

export interface Waiting {
  /** Ends the wait: `known` then throws `claim-interrupted`. */
  readonly signal?: AbortSignal | undefined;
  /** Called once with a description of the process that is waited for, such as "process 4711 on build-3". */
  readonly onWait?: ((whom: string) => void) | undefined;
}

/** Reports to the service after a file was written or failed: the status to send now, and the last status sent. */
export interface AfterFile {
  readonly reportDue: 1 | 2 | undefined;
  readonly reported: 1 | 2 | undefined;
}

export type Reported = 1 | 2 | 'not-wanted';

export interface Failure {
  readonly reason: string;
  readonly httpStatus?: number | undefined;
  readonly serviceCode?: number | undefined;
}

/** The part of one file in a call that has a signature. Steps for which nothing waits join the next commit. */
export interface SharedCall {
  readonly id: string;
  /** Stores the timestamp of the signature; committed before the file is renamed. The last stored timestamp wins. */
  stamped(token: Uint8Array): Promise<void>;
  /** `sha256`: hash of the written file, in hex. A failure only adds a warning to `Journal.warnings`. */
  written(target: string, sha256?: string): Promise<AfterFile>;
  /**
   * The signature stays available to the next file of the work, at any age. Exception: a `changed` file is given up if
   * another file has written the same output with this signature. Throws if the journal could not record the signature.
   */
  notWritten(reason: string, changed?: boolean): Promise<AfterFile>;
  /** A call stays `unreported` until this step is recorded. Never throws. */
  reported(status: Reported): Promise<void>;
}

export interface KnownCall extends SharedCall {
  readonly known: SignatureOnRecord & { readonly token: Uint8Array | undefined };
}

/**
 * Permission to request the signature of a work. The usual order of steps is requested, mayBeSent, signed, written,
 * reported. Each promise resolves after the commit. `refused`, `unanswered`, `unusable` and `release` end the claim.
 */
export interface Claim extends SharedCall {
  readonly known: undefined;
  /** Ids of earlier calls that may have been counted; each one causes a warning. */
  readonly unknownCalls: readonly string[];
  /** True if this certificate has verified a signature before. A first failure then does not stop the run. */
  readonly isProven: boolean;
  /**
   * Must be called before each attempt, which must not be sent if it throws `claim-lost`, `journal-full` or
   * `journal-unusable`. `repeated`: the previous attempt may have been counted, and the call does not become `unknown`
   * in between.
   */
  requested(repeated?: boolean): Promise<void>;
  /** Must be called right before the first byte is sent; nothing may be sent if it throws (see the README). */
  mayBeSent(): void;
  /** The attempt certainly made no signature, and will be retried. */
  deferred(failure?: Failure): Promise<void>;
  /**
   * Records a signature that has been verified. If recording fails, the signature stays in memory, and this run sends
   * no more requests. `surplus`: another process took over the work. The signature is kept for `resume` only, and later
   * steps of this claim do nothing.
   */
  signed(given: SignatureOnRecord): Promise<'signed' | 'surplus'>;
  /** Records a signature that does not verify. The signature stays available to a claim with the right certificate. */
  unusable(given: SignatureOnRecord, reason: string): Promise<void>;
  /** Certainly no signature was made. */
  refused(failure: Failure): Promise<void>;
  /** The service may have made a signature that never arrived. */
  unanswered(failure: Failure): Promise<void>;
  /** Ends a claim that has no request in progress. Does nothing after another final step. Never throws. */
  release(): Promise<void>;
}

/**
 * `under-way`: a running process is working on the call. `unwritten`: the signature exists, but a file still waits for
 * it. `unreported`: only the report to the service is missing. `unknown`: the call may have been counted. `surplus`:
 * the answer arrived after another process took over the work, and a failure report (2) is due.
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
  /** Reason for the unknown outcome; undefined if the process ended before it could record one. */
  readonly reason?: string | undefined;
}

export interface SharingFile {
  readonly file: string;
  readonly written: boolean;
  /** The signature does not verify with the certificate for which it was requested. */
  readonly unusable: boolean;
  readonly reason?: string | undefined;
  readonly signingOptions?: RecordedSigningOptions | undefined;
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
  /** SHA-256 of the written files in hex, without duplicates, at most 1000. */
  readonly sha256?: readonly string[] | undefined;
  readonly record?: string | undefined;
  readonly outcome: CallOutcome;
  readonly counted: 'yes' | 'no' | 'unknown';
  /** True if the request was retried after an unknown outcome, so it may have been counted twice. */
  readonly repeated?: boolean | undefined;
  readonly reported?: 1 | 2 | undefined;
  readonly reason?: string | undefined;
}

export interface Journal {
  /**
   * Returns the recorded signature of the work, which this file then shares; undefined if the file must claim the work.
   * Waits while another file or process requests the signature; the caller must not hold a permit of the gate. Throws
   * `just-unanswered`, `work-held`, `claim-interrupted`, or the error that `asking.mismatch` creates.
   */
  known(asking: Asking, waiting?: Waiting): Promise<KnownCall | undefined>;
  /** Returns undefined if the signature has meanwhile been recorded or claimed: call `known` again. */
  claim(asking: Asking): Promise<Claim | undefined>;
  /** Signing options of the files whose signature `known` would return. Never waits. */
  knownFor(work: Work): Promise<readonly RecordedSigningOptions[]>;
  /** Oldest first, for every service and client. */
  unfinished(): Promise<readonly UnfinishedCall[]>;
  /** Unfinished calls, and calls of runs that did not succeed: the same command can use their signatures again. */
  repeatable(): Promise<readonly Pick<UnfinishedCall, 'work' | 'files'>[]>;
  history(): AsyncIterable<HistoryEntry>;
  /** Records that a report of an earlier run has been sent. Returns false if the call does not exist. */
  reported(id: string, status: Reported): Promise<boolean>;
  /**
   * Discards a call for good: its signature is not used any more, and a mismatch that it showed no longer counts.
   * `report`: the status to send next. The call is `unreported` until `reported` records that the report was sent.
   */
  forget(id: string, report?: 1 | 2): Promise<'forgotten' | 'not-found' | 'under-way'>;
  /**
   * Ends a run, even if it failed or was interrupted: commits the remaining entries and hands calls over to runs that
   * share them. Never throws; each signature that cannot be committed causes a warning with its id and record.
   */
  close(): Promise<void>;
  /**
   * Records, after `close`, that the run succeeded. Without that record, runs that start within a week reuse the
   * finished calls, so the same command requests nothing twice. Synchronous, so that it can be the last action of a
   * process; never throws. If `isWell` is false, only closes the files.
   */
  ended(isWell?: boolean): void;
  readonly warnings: readonly string[];
}

export type JournalReading = Pick<Journal, 'unfinished' | 'history' | 'warnings'> & Disposable;
