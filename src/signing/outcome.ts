import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import type { CodesignError } from '../errors/codesign-error.ts';
import type { RetryWait } from '../http/retry.ts';
import type { CallRecord } from '../service/call-record.ts';

/** A file to change, and the path of its result. */
export interface FileToSign {
  /** Path as the user typed it. */
  readonly path: string;
  /** Path of the result as the user will find it; the same as `path` to change the file in place. */
  readonly output: string;
  /** Set for a file found in a folder. Such a file is skipped, and does not fail, if no format recognises it. */
  readonly pathInFolder?: string | undefined;
  /**
   * Set for a file that a pattern, a folder or a list named. In such a file, `sign` keeps an intact signature of
   * another publisher.
   */
  readonly isFound?: boolean | undefined;
}

interface Outcome {
  /** Path as the user typed it. */
  readonly path: string;
  /** Id of the format; null if none was recognised. */
  readonly format: string | null;
  /** Warnings for readers, as `message [code]`. */
  readonly warnings: readonly string[];
}

export interface WrittenOutcome extends Outcome {
  readonly output: string;
  /** Size of the new file. */
  readonly bytes: number;
  /** SHA-256 of the new file, in hex. */
  readonly sha256: string;
  readonly milliseconds: number;
}

export interface SignedOutcome extends WrittenOutcome {
  /** `unchanged`: the file already had this signature, from an earlier run that did not finish. */
  readonly status: 'signed' | 'unchanged';
  readonly algorithm: DigestAlgorithm;
  /** The service's record id; null if it returned none. */
  readonly record: string | null;
  readonly reported: boolean;
  /** Set if a signature from an earlier run was used, and none was requested. */
  readonly reused: boolean;
  /** Time of the timestamp, ISO 8601; null without a timestamp. */
  readonly timestamp: string | null;
  /** Address of the authority; null without a timestamp. */
  readonly timestampAuthority: string | null;
  /** Signers whose signatures the new one replaced. */
  readonly replaced: readonly string[];
  /** Inner files that were signed first; undefined if there were none. */
  readonly inner?: readonly InnerSigned[];
}

/** The signature of an inner file. */
export interface InnerSigned extends Pick<SignedOutcome, 'algorithm' | 'record' | 'reused' | 'timestamp'> {
  readonly name: string;
}

export interface TimestampedOutcome extends WrittenOutcome {
  readonly status: 'timestamped';
  /** Time of the first timestamp, ISO 8601. */
  readonly timestamp: string;
  /** Address of the authority. */
  readonly authority: string;
  /** Number of signatures that got a timestamp. */
  readonly signatures: number;
}

export interface RemovedOutcome extends WrittenOutcome {
  readonly status: 'removed';
  /** Number of signatures in the file. */
  readonly signatures: number;
  /** The signers, without duplicates. Not escaped: may contain control characters. */
  readonly removed: readonly string[];
}

export interface AttachedOutcome extends WrittenOutcome {
  readonly status: 'attached';
  /** Not escaped: may contain control characters. */
  readonly signer: string;
  /** Signers whose signatures were replaced. */
  readonly replaced: readonly string[];
}

/** Reason why nothing was changed. */
export type SkipReason = 'already-signed' | 'signed-by-others' | 'already-timestamped' | 'not-signed';

export interface SkippedOutcome extends Outcome {
  readonly status: 'skipped';
  readonly output: string;
  readonly reason: SkipReason;
}

export interface PlannedOutcome extends Outcome {
  readonly status: 'planned';
  readonly output: string;
  readonly algorithm: DigestAlgorithm;
  /** The digest that would be sent, in Base64. null if it depends on signatures of inner files. */
  readonly digest: string | null;
  readonly replaced: readonly string[];
  readonly bytes: number;
  /** Inner files that would be signed first; undefined if there are none. */
  readonly inner?: readonly InnerPlanned[];
}

export interface InnerPlanned {
  readonly name: string;
  readonly algorithm: DigestAlgorithm;
  /** The digest that would be sent for the inner file. */
  readonly digest: string;
}

export interface FailedOutcome extends Outcome {
  readonly status: 'failed';
  readonly error: CodesignError;
  /** The service's record id if a signature was already returned; null otherwise. */
  readonly record: string | null;
  /** Set if the journal keeps that signature, so that the next run uses it. */
  readonly kept: boolean;
}

export type FileOutcome =
  | SignedOutcome
  | PlannedOutcome
  | TimestampedOutcome
  | RemovedOutcome
  | AttachedOutcome
  | SkippedOutcome
  | FailedOutcome;

/** The result of `timestamp`, `remove` and `attach`. */
export interface ChangeFilesResult {
  /** Warnings about the run as a whole, such as its certificate, credentials and listener, as `message [code]`. */
  readonly warnings: readonly string[];
  /** Outcomes in the order of the files. */
  readonly files: readonly FileOutcome[];
}

export interface SignFilesResult extends ChangeFilesResult {
  readonly summary: {
    readonly signed: number;
    readonly unchanged: number;
    readonly skipped: number;
    readonly failed: number;
    readonly planned: number;
    /** Number of failed files that were not attempted because the run ended early. */
    readonly notAttempted: number;
  };
}

export interface TemporaryFileLeft {
  readonly type: 'temporary-file-left';
  readonly path: string;
  readonly error: CodesignError;
}

/** Progress of reading a large file: `bytes` of the `size` that one pass reads. There may be several passes. */
export interface BytesRead {
  readonly type: 'bytes-read';
  readonly path: string;
  readonly bytes: number;
  readonly size: number;
}

/** A request failed, and is retried after a wait. */
export interface WaitingToRetry extends RetryWait {
  readonly type: 'waiting-to-retry';
  /** The request and the reason: `sign app.exe: HTTP 503`. */
  readonly reason: string;
}

/** Events of all commands that change files, not only of `sign`. */
export type FileEvent =
  | WaitingToRetry
  | { readonly type: 'file-started'; readonly path: string }
  | BytesRead
  /** A file in a folder that is named like a format, but does not have its content. */
  | { readonly type: 'file-left-out'; readonly path: string; readonly error: CodesignError }
  /** A temporary file could not be removed. */
  | TemporaryFileLeft;

/** The step that a file waits for after it has been read. */
export type FileStep = 'asking-service' | 'asking-authority' | 'writing';

export type SigningEvent =
  | FileEvent
  /** All files were planned. `paths`: the files that will be changed, in the order of the input. */
  | { readonly type: 'files-planned'; readonly paths: readonly string[] }
  /** Emitted before the first request. */
  | { readonly type: 'option-unused'; readonly error: CodesignError }
  /** `whom`: a description of the other process that requests the same signature. */
  | { readonly type: 'waiting'; readonly path: string; readonly whom: string }
  | { readonly type: 'file-step'; readonly path: string; readonly step: FileStep }
  /** The request was sent to the service: from now on a signature may be counted. */
  | { readonly type: 'signature-requested'; readonly path: string }
  /** The service returned a signature for this run: it counts. */
  | { readonly type: 'signature-given'; readonly path: string }
  /** One attempt of a call was answered or failed. */
  | { readonly type: 'service-called'; readonly call: CallRecord }
  /** The file is final, but its report may still be under way. */
  | { readonly type: 'file-finished'; readonly outcome: FileOutcome }
  | { readonly type: 'report-failed'; readonly path: string; readonly record: string; readonly error: CodesignError };
