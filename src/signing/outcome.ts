import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import type { CodesignError } from '../errors/codesign-error.ts';
import type { RetryWait } from '../http/retry.ts';
import type { CallRecord } from '../service/call-record.ts';

/** A file to change and where the result goes. */
export interface FileToSign {
  /** As the user gave it. */
  readonly path: string;
  /** As the user will find it; the same as `path` to change the file in place. */
  readonly output: string;
  /** Set for a file found in a folder: it is left out, and does not fail, when no format recognises it. */
  readonly pathInFolder?: string | undefined;
  /** Set for a file that a pattern, a folder or a list named: `sign` keeps an intact signature of another publisher in it. */
  readonly isFound?: boolean | undefined;
}

interface Outcome {
  /** As the user gave it. */
  readonly path: string;
  /** Id of the format, null when none was recognised. */
  readonly format: string | null;
  /** For people: `message [code]`. */
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
  /** `unchanged`: the file had exactly this signature already, from an earlier run that did not end well. */
  readonly status: 'signed' | 'unchanged';
  readonly algorithm: DigestAlgorithm;
  /** The service's record id; null when it gave none. */
  readonly record: string | null;
  readonly reported: boolean;
  /** Whether a signature from an earlier run was used instead of requesting one. */
  readonly reused: boolean;
  /** Time of the timestamp, ISO 8601; null without one. */
  readonly timestamp: string | null;
  /** Address of the authority that gave it; null without one. */
  readonly timestampAuthority: string | null;
  /** Signers whose signatures the new one replaced. */
  readonly replaced: readonly string[];
  /** Of files in it that were signed first; undefined if there were none. */
  readonly inner?: readonly InnerSigned[];
}

/** The signature of a file in another one. */
export interface InnerSigned extends Pick<SignedOutcome, 'algorithm' | 'record' | 'reused' | 'timestamp'> {
  readonly name: string;
}

export interface TimestampedOutcome extends WrittenOutcome {
  readonly status: 'timestamped';
  /** Of the first one given, ISO 8601. */
  readonly timestamp: string;
  /** Address of the authority that gave it. */
  readonly authority: string;
  /** How many signatures got one. */
  readonly signatures: number;
}

export interface RemovedOutcome extends WrittenOutcome {
  readonly status: 'removed';
  /** How many there were. */
  readonly signatures: number;
  /** Their signers, each once. Raw: may hold control characters. */
  readonly removed: readonly string[];
}

export interface AttachedOutcome extends WrittenOutcome {
  readonly status: 'attached';
  /** Raw: may hold control characters. */
  readonly signer: string;
  /** Signers whose signatures were replaced. */
  readonly replaced: readonly string[];
}

/** Why there was nothing to do. */
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
  /** What would be sent: base64 of the raw digest, whole. Null if it depends on signatures of files in this one. */
  readonly digest: string | null;
  readonly replaced: readonly string[];
  readonly bytes: number;
  /** Files in it that would be signed first; undefined if there are none. */
  readonly inner?: readonly InnerPlanned[];
}

export interface InnerPlanned {
  readonly name: string;
  readonly algorithm: DigestAlgorithm;
  /** As of the other file. */
  readonly digest: string;
}

export interface FailedOutcome extends Outcome {
  readonly status: 'failed';
  readonly error: CodesignError;
  /** The service's record id when a signature had already been given; null otherwise. */
  readonly record: string | null;
  /** Whether the journal keeps that signature, so that the next run uses it. */
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
  /** About the run as a whole, such as its certificate, credentials and listener: `message [code]`. */
  readonly warnings: readonly string[];
  /** In the order the files were given. */
  readonly files: readonly FileOutcome[];
}

export interface SignFilesResult extends ChangeFilesResult {
  readonly summary: {
    readonly signed: number;
    readonly unchanged: number;
    readonly skipped: number;
    readonly failed: number;
    readonly planned: number;
    /** Of those that failed, how many were left alone because the run ended early. */
    readonly notAttempted: number;
  };
}

export interface TemporaryFileLeft {
  readonly type: 'temporary-file-left';
  readonly path: string;
  readonly error: CodesignError;
}

/** Of a large file, as it is read: `bytes` of the `size` that one pass over it reads. There may be several passes. */
export interface BytesRead {
  readonly type: 'bytes-read';
  readonly path: string;
  readonly bytes: number;
  readonly size: number;
}

/** A request failed, and is sent again after a wait. */
export interface WaitingToRetry extends RetryWait {
  readonly type: 'waiting-to-retry';
  /** Which request, and why: `sign app.exe: HTTP 503`. */
  readonly reason: string;
}

/** Events of every change, not only of signing. */
export type FileEvent =
  | WaitingToRetry
  | { readonly type: 'file-started'; readonly path: string }
  | BytesRead
  /** Found in a folder, of no format by content, and named like one. */
  | { readonly type: 'file-left-out'; readonly path: string; readonly error: CodesignError }
  /** It could not be removed. */
  | TemporaryFileLeft;

/** What a file waits for once it has been read. */
export type FileStep = 'asking-service' | 'asking-authority' | 'writing';

export type SigningEvent =
  | FileEvent
  /** All files were looked at. `paths`: those that will be finished, in the order of the input. */
  | { readonly type: 'files-planned'; readonly paths: readonly string[] }
  /** Before the first request. */
  | { readonly type: 'option-unused'; readonly error: CodesignError }
  /** `whom`: another process that requests the same signature, in words. */
  | { readonly type: 'waiting'; readonly path: string; readonly whom: string }
  | { readonly type: 'file-step'; readonly path: string; readonly step: FileStep }
  /** Sent to the service: from now on a signature may be counted. */
  | { readonly type: 'signature-requested'; readonly path: string }
  /** By the service, for this run: it counts. */
  | { readonly type: 'signature-given'; readonly path: string }
  /** One attempt of one call was answered, or failed. */
  | { readonly type: 'service-called'; readonly call: CallRecord }
  /** The file is final; its report may still be under way. */
  | { readonly type: 'file-finished'; readonly outcome: FileOutcome }
  | { readonly type: 'report-failed'; readonly path: string; readonly record: string; readonly error: CodesignError };
