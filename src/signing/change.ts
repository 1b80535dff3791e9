/** THE SEAM OF CHANGES: what can be done to files without the service, and what a run of it is made of. Types only. */

import type { Patch } from '../bytes/patch.ts';
import type { Format, SignableFile } from '../formats/format.ts';
import type { DigestEntries } from '../zip/entry-digests.ts';
import type { Batch } from './batch.ts';
import type { ChangeEvent, Done, SkipReason } from './change-outcome.ts';
import type { LockTarget } from './files/target-lock.ts';
import type { FileToSign } from './outcome.ts';

export interface Change {
  /** Says why there is nothing to do. Throws what makes it impossible and can be known without digesting the content. */
  judge(opened: SignableFile, file: FileToSign): Promise<SkipReason | undefined>;
  /** What is to be done, with all that is needed for it asked for; the file is not touched. */
  prepare(opened: SignableFile, batch: Batch): Promise<PreparedChange>;
}

export interface PreparedChange {
  readonly patch: Patch;
  /** Throws unless the reopened result is what it was to become. */
  check(result: SignableFile): Promise<void>;
  /** Once the file is in place. */
  readonly done: Done;
}

export interface Changing {
  readonly formats: readonly Format[];
  readonly change: Change;
  /** Digests of what is in archives. */
  readonly digestEntries: DigestEntries;
  /** Files under way at once. */
  readonly concurrency: number;
  /** Milliseconds that never go back. */
  readonly clock: () => number;
  readonly randomName: () => string;
  /** Removes what a process that was killed has left in a folder. */
  readonly removeLeft?: (folder: string) => Promise<void>;
  /** Keeps other runs from a target. */
  readonly lockTarget?: LockTarget;
  /** Makes what was renamed in a folder durable. */
  readonly flushFolder?: (folder: string) => Promise<void>;
  /** Paths of the temporary files and locks that are there now, for whoever must end at once. */
  readonly temporaryFiles: Set<string>;
  readonly onEvent: (event: ChangeEvent) => void;
}
