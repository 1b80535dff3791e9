import { type CodesignError, toCodesignError } from '../../errors/codesign-error.ts';
import { exitCodeFor } from '../../errors/exit-codes.ts';
import type { OptionsOf } from '../../options/table.ts';
import type { ChangeFilesResult, FileOutcome } from '../../signing/outcome.ts';
import { cliErrors } from '../errors.ts';
import { expandInputs, type InputPath } from '../input/inputs.ts';
import type { Io } from '../io.ts';
import type { ChangeConsole } from '../output/changes/change-console.ts';
import { changesJson } from '../output/changes/outcomes.ts';
import { writeChecksums } from '../output/checksums.ts';
import { jsonText } from '../output/json.ts';
import { Lines, type LinesOptions, oneLine } from '../output/lines.ts';

export async function printChanges(
  { files, warnings }: ChangeFilesResult,
  console: ChangeConsole,
  options: LinesOptions,
  io: Io,
  checksums?: string,
  noteEnd?: () => void,
): Promise<number> {
  if (files.length === 0) throw cliErrors('nothing-to-sign');
  if (options.json) io.stdout.write(jsonText(changesJson({ files, warnings }, console.verb)));
  for (const warning of warnings) console.warning(warning);
  console.summary(files);
  const fault = checksums === undefined ? undefined : await putChecksums(checksums, files, console, options, io);
  if (noteEnd !== undefined) io.onSuccess(noteEnd);
  const failures = [fault, ...files.map((file) => (file.status === 'failed' ? file.error : undefined))];
  return exitCodeFor(failures.flatMap((error) => error?.category ?? []));
}

/** Returns the error: the files are signed, and their results must still be printed. */
async function putChecksums(
  path: string,
  files: readonly FileOutcome[],
  console: ChangeConsole,
  options: LinesOptions,
  io: Io,
): Promise<CodesignError | undefined> {
  try {
    const incomplete = await writeChecksums(path, files);
    if (incomplete !== undefined) console.warning(oneLine(incomplete));
    return undefined;
  } catch (thrown) {
    const error = toCodesignError(thrown);
    new Lines(io, options).error(error);
    return error;
  }
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
