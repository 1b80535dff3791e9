import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import type { CodesignError } from '../errors/codesign-error.ts';
import type { FileStats } from '../files/input-file.ts';
import type { Format } from '../format/format.ts';
import type { FormatOption } from '../format/options.ts';
import type { FoundSignature } from '../format/signature.ts';
import type { FileToSign, SkipReason } from './outcome.ts';

export interface RecognisedFile extends FileToSign {
  readonly format: Format;
  /** Version that was planned. A file that has changed since is not written. */
  readonly stats: FileStats;
  /** Time that some formats sign. */
  readonly time: Date;
}

/** The planned change of a file. */
export interface Intent {
  /** Set if nothing is to be done. The file stays unchanged. */
  readonly skipped: SkipReason | undefined;
  readonly warnings: readonly string[];
  /** Number of signatures that the file needs: one, and one for each inner file that is signed first. */
  readonly signatures: number;
  /** Signers whose signatures the new signature replaces. */
  readonly replaced: readonly string[];
  /** Set if the file already has the signature and only the records are missing. */
  readonly written?: WrittenSignature | undefined;
}

/** The intent of commands that request no signature. They omit the warnings of a format, which are about signing. */
export const WITHOUT_SIGNATURE = { warnings: [], signatures: 0, replaced: [] } as const;

/** A signature that a run wrote to a file before the run was killed. */
export interface WrittenSignature {
  readonly signature: FoundSignature;
  readonly digest: Uint8Array;
  readonly algorithm: DigestAlgorithm;
}

export interface PlannedFile extends RecognisedFile, Intent {
  /** Options of the format that have no effect on this file. */
  readonly unusedOptions: readonly FormatOption[];
  /** Absolute path of the result, with links followed. */
  readonly target: string;
  /** Version of the target when it was planned; undefined if it was absent or the file is skipped. */
  readonly targetVersion: string | undefined;
  /** Identity of the target's folder when it was planned; undefined if it was absent or the file is skipped. */
  readonly folderIdentity: string | undefined;
  /** Set if file and target are known to be on local file systems. */
  readonly isLocal: boolean;
}

export type Planned =
  | { readonly file: FileToSign; readonly plan: PlannedFile }
  /** `format`: id of the format, if it was recognised. */
  | { readonly file: FileToSign; readonly format: string | null; readonly error: CodesignError };
