import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import type { CodesignError } from '../errors/codesign-error.ts';
import type { FileStats } from '../files/input-file.ts';
import type { Format } from '../format/format.ts';
import type { FormatOption } from '../format/options.ts';
import type { FoundSignature } from '../format/signature.ts';
import type { FileToSign, SkipReason } from './outcome.ts';

export interface RecognisedFile extends FileToSign {
  readonly format: Format;
  /** A file that has changed since is left as it is. */
  readonly stats: FileStats;
  /** Signed by formats that sign a time. */
  readonly time: Date;
}

/** What a command is going to do to a file. */
export interface Intent {
  /** Set if there is nothing to do: the file is left alone. */
  readonly skipped: SkipReason | undefined;
  readonly warnings: readonly string[];
  /** Number of signatures that it takes: one, and one for each file in it that is signed first. */
  readonly signatures: number;
  /** Signers whose signatures the new one replaces. */
  readonly replaced: readonly string[];
  /** The signature, if the file has it already: only the records are missing. */
  readonly written?: WrittenSignature | undefined;
}

/** Requests no signature. The warnings of a format are about signing. */
export const WITHOUT_SIGNATURE = { warnings: [], signatures: 0, replaced: [] } as const;

/** A signature that a run put into a file before it was ended. */
export interface WrittenSignature {
  readonly signature: FoundSignature;
  readonly toBeSigned: Uint8Array;
  readonly algorithm: DigestAlgorithm;
}

export interface PlannedFile extends RecognisedFile, Intent {
  /** Options of its format that do not affect it. */
  readonly unusedOptions: readonly FormatOption[];
  /** Absolute path of the result, links followed. */
  readonly target: string;
  /** The target as it was when it was planned; undefined if it was absent, or the file is skipped. */
  readonly targetVersion: string | undefined;
  /** Of the target's folder when it was planned; undefined if that was absent, or the file is skipped. */
  readonly folderIdentity: string | undefined;
  /** Whether file and target are known to be on file systems of this machine alone. */
  readonly isLocal: boolean;
}

export type Planned =
  | { readonly file: FileToSign; readonly plan: PlannedFile }
  /** `format`: its id if it was recognised. */
  | { readonly file: FileToSign; readonly format: string | null; readonly error: CodesignError };
