/** A row of the fault matrix: one thing that goes wrong at one step, and what then is right. */

import type { RelayFault } from '../../support/services/faulty-relay.ts';
import type { FormatId } from './stage.ts';

export interface Row {
  /** The step of a file's way through the program at which the fault happens. */
  readonly step: string;
  readonly fault: string;
  /** Whether `npm test` runs it, with the first of its variants and formats; the long tests run all cases. */
  readonly core?: boolean;
  readonly formats: readonly FormatId[];
  /** Effect → error code that `sign` gives; of a row without variants the effect is `-`. */
  readonly variants: Readonly<Record<string, string | null>>;
  /** CODESIGN_TEST_FAULT for `sign`, its effect left out: the variant's goes behind it. */
  readonly files?: string;
  readonly network?: RelayFault;
  /** Settings of the run with the fault alone. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Signs with a timestamp by the service's own authority. */
  readonly timestamp?: boolean;
  /** Signs to a new file next to the input. */
  readonly toOutput?: boolean;
  /** Seconds that the run with the fault waits for an answer. */
  readonly timeout?: number;
  /** What is on a small disk of its own. */
  readonly disk?: 'files' | 'journal';
  /** CODESIGN_TEST_FAULT for `resume`. */
  readonly resumeFault?: string;
  /** What this fault leaves behind although nothing should be, as it shows in `wrongs`. */
  readonly leaves?: RegExp;
  readonly right: Course;
}

/** Makes rows of a step of which most have the same formats, variants and course. */
export const rowsOf =
  (step: string, formats: Row['formats'], right: Course, usual: Row['variants']) =>
  (fault: string, files: string, variants = usual, more: Partial<Row> = {}): Row => ({
    ...{ step, fault, formats, variants, files, right },
    ...more,
  });

/** What happens, from the run with the fault to the last one. */
export interface Course {
  readonly exit: number | null;
  /** Requests for signatures that left the machine for the service. */
  readonly asked: number;
  readonly counted: number;
  readonly file: FileState;
  /** Exit code of `resume`, and what became of each call that it found. */
  readonly resume: string;
  readonly afterResume: FileState;
  /** The next `sign`, where the file is still unsigned. */
  readonly again: string;
  readonly total: number;
}

export type FileState = 'original' | 'signed' | 'damaged' | 'missing';

export interface Observed extends Course {
  readonly error: string | null;
  /** What must never happen, whatever the fault is. */
  readonly wrongs: readonly string[];
}
