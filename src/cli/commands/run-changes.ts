import { type CodesignError, toCodesignError } from '../../errors/codesign-error.ts';
import { exitCodeFor } from '../../errors/exit-codes.ts';
import type { ChangeFilesResult, FileOutcome } from '../../signing/outcome.ts';
import { cliErrors } from '../errors.ts';
import { listenForSignals } from '../interruption.ts';
import type { Io } from '../io.ts';
import type { ChangeConsole } from '../output/changes/change-console.ts';
import { changesJson } from '../output/changes/outcomes.ts';
import { writeChecksums } from '../output/checksums.ts';
import { jsonText } from '../output/json.ts';
import { Lines, type LinesOptions, oneLine } from '../output/lines.ts';

interface Run {
  readonly console: ChangeConsole;
  readonly options: LinesOptions;
  readonly io: Io;
  readonly opened: Parameters<typeof listenForSignals>[1];
  readonly checksums?: string | undefined;
  readonly noteEnd?: () => void;
}

/** Changes the files until a signal stops the run, then prints the results. */
export async function runChanges(
  { console, options, io, opened, checksums, noteEnd }: Run,
  change: (signal: AbortSignal) => Promise<ChangeFilesResult>,
): Promise<number> {
  using interruption = listenForSignals(console, opened, io);
  const { files, warnings } = await change(interruption.signal);
  if (files.length === 0) throw cliErrors('nothing-to-sign');
  if (options.json) io.stdout.write(jsonText(changesJson({ files, warnings }, console.verb)));
  for (const warning of warnings) console.warning(warning);
  console.summary(files);
  const fault = checksums === undefined ? undefined : await putChecksums(checksums, files, console, options, io);
  if (noteEnd !== undefined) io.onSuccess(noteEnd);
  const failures = [fault, ...files.map((file) => (file.status === 'failed' ? file.error : undefined))];
  return interruption.exitCode ?? exitCodeFor(failures.flatMap((error) => error?.category ?? []));
}

/** Returns an error instead of throwing it, because the results of the signed files must still be printed. */
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
