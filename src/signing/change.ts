/** THE SEAM OF CHANGES: what `sign`, `timestamp`, `remove` and `attach` do to a file, and what a run of any of them works with. Types only. */

import type { ByteSource } from '../bytes/byte-source.ts';
import type { Patch } from '../bytes/patch.ts';
import type { FileStats } from '../files/input-file.ts';
import type { ContentReader, Format, SignableFile } from '../formats/format.ts';
import type { DigestEntries } from '../zip/entry-digests.ts';
import type { Batch } from './batch.ts';
import type { StagedCopyOptions } from './files/staged-copy.ts';
import type { FailedOutcome, FileEvent, FileFinished, FileToSign, SkippedOutcome, SkipReason } from './outcome.ts';

/** What a run works with, whatever it does to its files. `Done`: the outcome of a file that was not skipped and did not fail. */
export interface Run<Done> {
  readonly formats: readonly Format[];
  /** Digests of what is in archives. */
  readonly digestEntries: DigestEntries;
  readonly disk: Disk;
  /** Files under way concurrently. */
  readonly concurrency: number;
  /** Milliseconds that never go back. */
  readonly clock: () => number;
  readonly onEvent: (event: FileEvent | FileFinished<Done | SkippedOutcome | FailedOutcome>) => void;
}

/** Names and removal of temporary files. */
export type Disk = Pick<StagedCopyOptions, 'randomName' | 'removeStaleFiles' | 'flushFolder' | 'temporaryFiles'>;

/** What is to be done to one file. */
export interface Decision<Intent> {
  /** Set when there is nothing to do: the file is left alone. */
  readonly skipped: SkipReason | undefined;
  readonly warnings: readonly string[];
  readonly intent: Intent;
}

export interface PlannedFile<Intent = unknown> extends FileToSign, Decision<Intent> {
  readonly format: Format;
  /** The input as it was when it was planned; a file that has changed since is left as it is. */
  readonly stats: FileStats;
  /** Where the result is written, absolute, links followed. */
  readonly target: string;
  /** The target as it was when it was planned; undefined if it was absent. */
  readonly targetVersion: string | undefined;
  /** Opens the file, if it has not changed since it was planned. */
  open(source: ByteSource, reader: ContentReader): Promise<SignableFile>;
}

/** A file of a run: planned, or unfit and why. */
export type Planned<Intent = unknown> =
  | { readonly file: FileToSign; readonly plan: PlannedFile<Intent> }
  /** `format`: its id, when it was recognised. */
  | { readonly file: FileToSign; readonly format: string | null; readonly error: FailedOutcome['error'] };

export interface Change<Intent, Done> {
  /** Writes nothing, and sends no request. */
  readonly isRehearsal?: boolean;
  /** Throws what makes the change impossible and can be known without digesting the content. */
  decide(opened: SignableFile, file: FileToSign, format: Format): Promise<Decision<Intent>>;
  /** Called when every file is planned, before the first is changed. Throws what keeps the whole run from starting. */
  checkRun?(files: readonly Planned<Intent>[]): Promise<void>;
  /** `batch` is the run. Throws what the file fails of. */
  perform(plan: PlannedFile<Intent>, batch: Batch): Promise<Finished<Done | FailedOutcome>>;
}

export interface Finished<Done> {
  readonly outcome: Done;
  /** Starts the report to the service. Called when the listener has the outcome. */
  readonly startReport?: () => WaitForReport<Done>;
}

/** Called when every file of the run is finished. Gives the outcome with what the report changed. */
export type WaitForReport<Done> = () => Promise<Done>;

/** How one change edits the file, and what the result must be. */
export interface PreparedChange {
  readonly patch: Patch;
  /** Throws unless the reopened result is what it was to become. */
  check(result: SignableFile): Promise<void>;
}
