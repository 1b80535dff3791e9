/** What happened to each file of a run that changes files without the service, and what is told meanwhile: types only. */

import type { CodesignError } from '../errors/codesign-error.ts';
import type { FileEvent } from './outcome.ts';

interface Judged {
  /** As the user gave it. */
  readonly path: string;
  /** Id of the format, null when none was recognised. */
  readonly format: string | null;
  /** Whole sentences for people. */
  readonly warnings: readonly string[];
}

/** What was done to a file. */
export type Done = TimestampsAdded | SignaturesRemoved | SignatureAttached;

export interface TimestampsAdded {
  readonly status: 'timestamped';
  /** Of the first one given, ISO 8601. */
  readonly timestamp: string;
  /** Address of the authority that gave it. */
  readonly authority: string;
  /** How many signatures got one. */
  readonly signatures: number;
}

export interface SignaturesRemoved {
  readonly status: 'removed';
  /** How many there were. */
  readonly signatures: number;
  /** Their signers, each once. Raw: may hold control characters. */
  readonly removed: readonly string[];
}

export interface SignatureAttached {
  readonly status: 'attached';
  /** Raw: may hold control characters. */
  readonly signer: string;
  /** Signers whose signatures gave way. */
  readonly replaced: readonly string[];
}

export type ChangedOutcome = Judged &
  Done & {
    readonly output: string;
    /** Size of the new file. */
    readonly bytes: number;
    readonly milliseconds: number;
  };

/** Why there was nothing to do. */
export type SkipReason = 'already-timestamped' | 'not-signed';

export interface UnchangedOutcome extends Judged {
  readonly status: 'skipped';
  readonly output: string;
  readonly reason: SkipReason;
}

export interface NotChangedOutcome extends Judged {
  readonly status: 'failed';
  readonly error: CodesignError;
}

export type ChangeOutcome = ChangedOutcome | UnchangedOutcome | NotChangedOutcome;

export interface ChangeFilesResult {
  /** Of the run as a whole: whole sentences. */
  readonly warnings: readonly string[];
  /** In the order the files were given. */
  readonly files: readonly ChangeOutcome[];
}

export type ChangeEvent = FileEvent | { readonly type: 'file-finished'; readonly outcome: ChangeOutcome };
