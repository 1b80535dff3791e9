/** Types of the result for one file. Library users see them, so they must not depend on the schema of a policy. */

import type { ContainedVerdict } from '../containers/walk.ts';

export type Result = 'good' | 'failed' | 'exempt' | 'not-required' | 'not-signable' | 'not-checked' | 'not-opened';

export interface Classification {
  readonly result: Result;
  /** A fixed word for the cause of a failure: a verdict, an error code, or a requirement that was not met. */
  readonly cause: string | undefined;
  readonly isFailure: boolean;
  readonly covered: 'own' | 'catalog' | 'package' | undefined;
}

/** `pathInFolder` is the path of the file below the folder argument. For a file argument, it is the file name. */
export interface FileOfRun extends ContainedVerdict {
  readonly pathInFolder: string;
}

export type ClassifiedFile = FileOfRun & Classification & { readonly rule: number | undefined };

export interface Minimum {
  readonly pattern: string;
  readonly least: number;
  readonly good: number;
}
