import type { CodesignError } from '../errors/codesign-error.ts';
import type { FileStats, InputFile } from '../files/input-file.ts';
import type { Format } from '../format/format.ts';
import type { FormatOption } from '../format/options.ts';
import type { SignableFile } from '../format/signable-file.ts';
import type { WrittenSignature } from './existing-signatures.ts';
import type { InnerFiles } from './files/inner-files.ts';
import type { FileToSign, SkipReason } from './outcome.ts';

export interface RecognisedFile extends FileToSign {
  readonly format: Format;
  /** Version of the file at planning time. If the file has changed since then, it is not written. */
  readonly stats: FileStats;
  readonly time: Date;
}

export interface Intent {
  /** Reason why the file stays unchanged; undefined if it is changed. */
  readonly skipped: SkipReason | undefined;
  readonly warnings: readonly string[];
  /** Number of signatures to request: one for the file itself, and one for each inner file that is signed first. */
  readonly signatures: number;
  readonly replaced: readonly string[];
  /** Set if the file already contains the signature, and only the records are missing. */
  readonly written?: WrittenSignature | undefined;
  /** The files inside the file that are signed before it. */
  readonly contained?: InnerFiles | undefined;
  /** Set if only files inside the file are signed, because of its format or of the policy. */
  readonly isContainerOnly?: true;
}

export const WITHOUT_SIGNATURE = { warnings: [], signatures: 0, replaced: [] } as const;

export interface PlannedFile extends RecognisedFile, Intent {
  readonly unusedOptions: readonly FormatOption[];
  /** Absolute path of the result, in which links have been resolved. */
  readonly target: string;
  /** Version of the target at planning time; undefined if it did not exist or the file is skipped. */
  readonly targetVersion: string | undefined;
  /** Identity of the target's folder at planning time; undefined if it did not exist or the file is skipped. */
  readonly folderIdentity: string | undefined;
  /** False if the file or its target may be on a file system that other machines use. */
  readonly isLocal: boolean;
  /** Returns the file if it is in memory, but only on the first call. */
  readonly takeKept: () => { readonly input: InputFile; readonly opened: SignableFile } | undefined;
}

export type Planned =
  | { readonly file: FileToSign; readonly plan: PlannedFile }
  | { readonly file: FileToSign; readonly format: string | null; readonly error: CodesignError };
