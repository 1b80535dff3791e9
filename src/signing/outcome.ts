/** What goes into a run, what happened to each file of it, and what is told meanwhile: types only. */

import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import type { CodesignError } from '../errors/codesign-error.ts';
import type { CallRecord } from '../service/call-record.ts';

/** A file to sign and where the result goes. */
export interface FileToSign {
  /** As the user gave it. */
  readonly path: string;
  /** As the user will find it; the same as `path` when signing in place. */
  readonly output: string;
  /** Set for what was found in a folder: left out, not failed, when no format recognises it. */
  readonly placeInFolder?: string | undefined;
}

interface Judged {
  /** As the user gave it. */
  readonly path: string;
  /** Id of the format, null when none was recognised. */
  readonly format: string | null;
  /** Whole sentences for people. */
  readonly warnings: readonly string[];
}

export interface SignedOutcome extends Judged {
  readonly status: 'signed';
  readonly output: string;
  readonly algorithm: DigestAlgorithm;
  /** The service's record id; null when it gave none. */
  readonly record: string | null;
  readonly reported: boolean;
  /** Whether a signature from an earlier run was used instead of asking for one. */
  readonly reused: boolean;
  /** Time of the timestamp, ISO 8601; null without one. */
  readonly timestamp: string | null;
  /** Address of the authority that gave it; null without one. */
  readonly timestampAuthority: string | null;
  /** Signers whose signatures gave way to the new one. */
  readonly replaced: readonly string[];
  /** Size of the signed file. */
  readonly bytes: number;
  readonly milliseconds: number;
}

export interface SkippedOutcome extends Judged {
  readonly status: 'skipped';
  readonly output: string;
}

export interface PlannedOutcome extends Judged {
  readonly status: 'planned';
  readonly output: string;
  readonly algorithm: DigestAlgorithm;
  /** What would be sent: base64 of the raw digest, whole. */
  readonly digest: string;
  readonly replaced: readonly string[];
  readonly bytes: number;
}

export interface FailedOutcome extends Judged {
  readonly status: 'failed';
  readonly error: CodesignError;
  /** The service's record id when a signature had already been given; null otherwise. */
  readonly record: string | null;
  /** Whether the journal keeps that signature, so that the next run uses it. */
  readonly kept: boolean;
}

export type FileOutcome = SignedOutcome | SkippedOutcome | PlannedOutcome | FailedOutcome;

export interface SignFilesResult {
  /** Of the run as a whole, on certificate, credentials and listeners: whole sentences. */
  readonly warnings: readonly string[];
  /** In the order the files were given. */
  readonly files: readonly FileOutcome[];
  readonly summary: {
    readonly signed: number;
    readonly skipped: number;
    readonly failed: number;
    readonly planned: number;
  };
}

export interface FileLeftOut {
  readonly type: 'file-left-out';
  readonly path: string;
  readonly error: CodesignError;
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

/** What is told of files whatever is done with them. */
export type FileEvent =
  | { readonly type: 'file-started'; readonly path: string }
  | BytesRead
  /** Found in a folder, of no format by content, and named like one. */
  | FileLeftOut
  /** It could not be removed. */
  | TemporaryFileLeft;

/** What a file waits for once it has been read. */
export type FileStep = 'asking-service' | 'asking-authority' | 'writing';

export type SigningEvent =
  | FileEvent
  /** `whom`: another process that asks for the same signature, in words. */
  | { readonly type: 'waiting'; readonly path: string; readonly whom: string }
  | { readonly type: 'file-step'; readonly path: string; readonly step: FileStep }
  /** By the service, for this run: it counts. */
  | { readonly type: 'signature-given'; readonly path: string }
  /** One attempt of one call was answered, or failed. */
  | { readonly type: 'service-called'; readonly call: CallRecord }
  /** The file is final; its report may still be under way. */
  | { readonly type: 'file-finished'; readonly outcome: FileOutcome }
  | { readonly type: 'report-failed'; readonly path: string; readonly record: string; readonly error: CodesignError };
