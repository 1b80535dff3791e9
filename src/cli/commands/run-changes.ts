import { type CodesignError, toCodesignError } from '../../errors/codesign-error.ts';
import { exitCodeFor } from '../../errors/exit-codes.ts';
import type { OptionsOf } from '../../options/table.ts';
import type { ChangeFilesResult, FileOutcome } from '../../signing/outcome.ts';
import { cliErrors } from '../errors.ts';
import { expandInputs, type InputPath } from '../input/inputs.ts';
import { runInterruptibly } from '../interruption.ts';
import type { Io } from '../io.ts';
import type { ChangeConsole } from '../output/changes/change-console.ts';
import { changesJson } from '../output/changes/change-json.ts';
import { writeChecksums } from '../output/checksums.ts';
import { jsonText } from '../output/json.ts';
import { Lines, type LinesOptions, oneLine } from '../output/lines.ts';

interface OpenedChange {
  removeTemporaryFiles(): void;
  readonly checksums?: string;
  noteEnd?(): void;
}

export function changeAndPrint(
  change: (signal: AbortSignal) => Promise<ChangeFilesResult>,
  { removeTemporaryFiles, checksums, noteEnd }: OpenedChange,
  console: ChangeConsole,
  options: LinesOptions,
  io: Io,
): Promise<number> {
  const work = async (signal: AbortSignal): Promise<number> => {
    const result = await change(signal);
    if (result.files.length === 0) throw cliErrors('nothing-to-sign');
    if (options.json) io.stdout.write(jsonText(changesJson(result, console.verb)));
    for (const warning of result.warnings) console.warning(warning);
    console.summary(result.files);
    const fault = checksums === undefined ? undefined : await putChecksums(checksums, result.files);
    if (noteEnd !== undefined) io.onSuccess(noteEnd);
    const failures = [fault, ...result.files.map((file) => (file.status === 'failed' ? file.error : undefined))];
    return exitCodeFor(failures.flatMap((error) => error?.category ?? []));
  };
  /** Returns the error instead of throwing it, because the files are signed and their results are printed. */
  const putChecksums = async (path: string, files: readonly FileOutcome[]): Promise<CodesignError | undefined> => {
    try {
      const incomplete = await writeChecksums(path, files);
      if (incomplete !== undefined) console.warning(oneLine(incomplete));
      return undefined;
    } catch (thrown) {
      const error = toCodesignError(thrown);
      new Lines(io, options).error(error);
      return error;
    }
  };
  return runInterruptibly({ console, removeTemporaryFiles, work }, io);
}

export function inputsOf(
  named: readonly string[],
  { recursive = false, exclude }: Pick<OptionsOf<'remove'>, 'recursive' | 'exclude'>,
  output: string | undefined,
  io: Io,
  ofAnyKind = false,
): Promise<InputPath[]> {
  return expandInputs(named, { recursive, exclude, ofAnyKind, stdin: () => io.stdin, outputFolder: output });
}
