import type { CodesignError } from '../errors/codesign-error.ts';
import type { FileStats } from '../files/input-file.ts';
import type { Format } from '../format/format.ts';
import type { FormatOption } from '../format/options.ts';
import type { WrittenSignature } from './existing-signatures.ts';
import type { InnerFiles } from './files/inner-files.ts';
import type { KeptFile } from './files/kept-files.ts';
import type { FileToSign, SkipReason } from './outcome.ts';

export interface RecognisedFile extends FileToSign {
  readonly format: Format;
  /** Version of the file at planning time. If the file has changed since then, it is not written. */
  readonly stats: FileStats;
  readonly time: Date;
}

export interface Intent {
  /** This member is set if there is nothing to do and the file stays unchanged. */
  readonly skipped: SkipReason | undefined;
  readonly warnings: readonly string[];
  /** Number of signatures to request: one for the file itself, and one for each inner file that is signed first. */
  readonly signatures: number;
  readonly replaced: readonly string[];
  /** This member is set if the file already contains the signature, so that only the records are missing. */
  readonly written?: WrittenSignature | undefined;
  /** The files inside the file that are signed before it. */
  readonly contained?: InnerFiles | undefined;
  /**
   * This member is set if only files inside the file are signed, because its format has no signature, or because the
   * policy says so.
   */
  readonly isContainerOnly?: true;
}

/** Commands that request no signature omit the warnings of a format, because these concern only signing. */
export const WITHOUT_SIGNATURE = { warnings: [], signatures: 0, replaced: [] } as const;

export interface PlannedFile extends RecognisedFile, Intent {
  readonly unusedOptions: readonly FormatOption[];
  /** Absolute path of the result, in which links have been resolved. */
  readonly target: string;
  /** Version of the target at planning time; undefined if the target did not exist or the file is skipped. */
  readonly targetVersion: string | undefined;
  /** Identity of the target's folder at planning time; undefined if the folder did not exist or the file is skipped. */
  readonly folderIdentity: string | undefined;
  /** False if the file or its target may be on a file system that other machines use. */
  readonly isLocal: boolean;
  /** Returns the file if it is in memory, but only on the first call. */
  readonly takeKept: () => KeptFile | undefined;
}

export type Planned =
  | { readonly file: FileToSign; readonly plan: PlannedFile }
  | { readonly file: FileToSign; readonly format: string | null; readonly error: CodesignError };
