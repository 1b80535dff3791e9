import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import type { CodesignError } from '../errors/codesign-error.ts';
import type { RetryWait } from '../http/retry.ts';
import type { CallRecord } from '../service/call-record.ts';

export interface FileToSign {
  /** The path as the user typed it. */
  readonly path: string;
  /** Path of the result; the same as `path` if the file is changed in place. */
  readonly output: string;
  /** Set only for files that were found in a folder, which are skipped if no format recognises them. */
  readonly pathInFolder?: string | undefined;
  /** True if a pattern, folder or list contained the file, in which `sign` keeps the signature of another publisher. */
  readonly isFound?: boolean | undefined;
}

interface Outcome {
  readonly path: string;
  /** Id of the file format; null if no format recognised the file. */
  readonly format: string | null;
  /** Warnings for users, in the form `message [code]`. */
  readonly warnings: readonly string[];
}

export interface WrittenOutcome extends Outcome {
  readonly output: string;
  readonly bytes: number;
  /** SHA-256 digest of the written file, in hexadecimal. Undefined if the run does not compute file digests. */
  readonly sha256: string | undefined;
  readonly milliseconds: number;
}

export interface SignatureOutcome {
  readonly algorithm: DigestAlgorithm;
  readonly record: string | null;
  readonly reused: boolean;
  /** Time of the timestamp in ISO 8601; null if there is no timestamp. */
  readonly timestamp: string | null;
  readonly timestampAuthority: string | null;
}

/** For a file with several signatures: the record and the algorithm of the first one, and the first timestamp. */
export interface SignedOutcome extends WrittenOutcome, SignatureOutcome {
  /** `unchanged` means that the file already has this signature from an earlier run that did not finish. */
  readonly status: 'signed' | 'unchanged';
  readonly reported: boolean;
  readonly replaced: readonly string[];
  /** All signatures of the file if it has several; undefined if it has one. */
  readonly units?: readonly SignedPart[];
  readonly inner?: readonly SignedPart[];
  /** Set only with `--inside`. */
  readonly inside?: readonly InsideOutcome[];
}

/** A file inside an archive or package. `kept` means that its existing, intact signature stays. */
export type InsideOutcome = {
  /** Path such as `dist/app.zip!/bin/app.exe`. */
  readonly location: string;
  readonly format: string | null;
} & (
  | ({ readonly status: 'signed' | 'unchanged' } & SignatureOutcome)
  | ({ readonly status: 'planned' } & Omit<PlannedPart, 'name'>)
  | { readonly status: 'kept' }
);

/** The signature of a unit or of an inner file. */
export interface SignedPart extends SignatureOutcome {
  readonly name: string;
}

export interface TimestampedOutcome extends WrittenOutcome {
  readonly status: 'timestamped';
  readonly timestamp: string;
  readonly authority: string;
  readonly signatures: number;
}

export interface RemovedOutcome extends WrittenOutcome {
  readonly status: 'removed';
  readonly signatures: number;
  /** Names of the signers, without duplicates. Names may contain control characters. */
  readonly removed: readonly string[];
}

export interface AttachedOutcome extends WrittenOutcome {
  readonly status: 'attached';
  /** The name may contain control characters. */
  readonly signer: string;
  readonly replaced: readonly string[];
}

export type SkipReason =
  | 'already-signed'
  | 'signed-by-others'
  | 'already-timestamped'
  | 'not-signed'
  | 'nothing-to-sign'
  | 'exempt';

export interface SkippedOutcome extends Outcome {
  readonly status: 'skipped';
  readonly output: string;
  readonly reason: SkipReason;
}

export interface PlannedOutcome extends Outcome {
  readonly status: 'planned';
  readonly output: string;
  readonly algorithm: DigestAlgorithm;
  /** The digest in Base64; null if it depends on the signatures of inner files, or if only these are signed. */
  readonly digest: string | null;
  readonly replaced: readonly string[];
  readonly bytes: number;
  readonly units?: readonly PlannedPart[];
  readonly inner?: readonly PlannedPart[];
  readonly inside?: readonly InsideOutcome[];
}

export interface PlannedPart {
  readonly name: string;
  readonly algorithm: DigestAlgorithm;
  /** The digest in Base64; null if it depends on the signatures of files inside the file. */
  readonly digest: string | null;
}

export interface FailedOutcome extends Outcome {
  readonly status: 'failed';
  readonly error: CodesignError;
  /** Record id of the signature that the service returned for the file; null if it returned none. */
  readonly record: string | null;
  /** True if the journal contains the signature, and the next run can use it. */
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

export interface ChangeFilesResult {
  /** Warnings about the run, for example about its certificate, in the form `message [code]`. */
  readonly warnings: readonly string[];
  readonly files: readonly FileOutcome[];
}

export interface SignFilesResult extends ChangeFilesResult {
  readonly summary: {
    readonly signed: number;
    readonly unchanged: number;
    readonly skipped: number;
    readonly failed: number;
    readonly planned: number;
    /** Number of failed files that the run did not attempt, because it was stopped. */
    readonly notAttempted: number;
  };
}

export interface TemporaryFileLeft {
  readonly type: 'temporary-file-left';
  readonly path: string;
  readonly error: CodesignError;
}

/** Progress of one pass over a large file. A file may need several passes. */
export interface BytesRead {
  readonly type: 'bytes-read';
  readonly path: string;
  readonly bytes: number;
  readonly size: number;
}

export interface WaitingToRetry extends RetryWait {
  readonly type: 'waiting-to-retry';
  /** The request and the reason of the retry, for example `sign app.exe: HTTP 503`. */
  readonly reason: string;
}

export type FileEvent =
  | WaitingToRetry
  | { readonly type: 'file-started'; readonly path: string }
  | BytesRead
  /** A file that was found in a folder has the extension of a supported format, but not its content. */
  | { readonly type: 'file-left-out'; readonly path: string; readonly error: CodesignError }
  | TemporaryFileLeft;

/** The step for which a file waits after it has been read. */
export type FileStep = 'asking-service' | 'asking-authority' | 'writing';

export type SigningEvent =
  | FileEvent
  /** All files have been planned. `paths` lists the planned files in their order. */
  | { readonly type: 'files-planned'; readonly paths: readonly string[] }
  | { readonly type: 'option-unused'; readonly error: CodesignError }
  /** `whom` describes the other process that is requesting the same signature. */
  | { readonly type: 'waiting'; readonly path: string; readonly whom: string }
  | { readonly type: 'file-step'; readonly path: string; readonly step: FileStep }
  /** The request is being sent, so a signature may be counted. */
  | { readonly type: 'signature-requested'; readonly path: string }
  /** The service returned a signature, so the signature has been counted. */
  | { readonly type: 'signature-given'; readonly path: string }
  | { readonly type: 'service-called'; readonly call: CallRecord }
  /** The file is complete, but its report may not have been sent yet. */
  | { readonly type: 'file-finished'; readonly outcome: FileOutcome }
  | { readonly type: 'report-failed'; readonly path: string; readonly record: string; readonly error: CodesignError };
