/** The course of `sign`, `timestamp`, `remove` and `attach`: from inputs to changed files, lines for people and a JSON document. */

import { exitCodeFor } from '../../errors/exit-codes.ts';
import type { OptionsOf } from '../../options/table.ts';
import type { ChangeEvent, FileToSign, SigningEvent } from '../../signing/outcome.ts';
import { cliErrors } from '../errors.ts';
import { expandInputs, type InputPath, resolveOutputs } from '../input/inputs.ts';
import { runInterruptibly } from '../interruption.ts';
import type { Io } from '../io.ts';
import { changeConsole } from '../output/changes/change-console.ts';
import { changesJson, type RunResult } from '../output/changes/change-json.ts';
import type { ChangeVerb } from '../output/changes/outcomes.ts';
import { jsonText } from '../output/json.ts';
import type { LinesOptions } from '../output/lines.ts';

/** What `app` composes for a change. */
export interface ComposedChange extends AsyncDisposable {
  /** Known before the first file, and part of the result's warnings again, as the first ones. */
  readonly warnings?: readonly string[];
  changeFiles(files: readonly FileToSign[], signal: AbortSignal): Promise<RunResult>;
  removeTemporaryFiles(): void;
  /** The last action of a successful run. */
  noteEnd?(): void;
}

export interface ChangeRun {
  readonly verb: ChangeVerb;
  readonly inputs: readonly InputPath[];
  /** Path of --output; undefined for changes in place. */
  readonly output: string | undefined;
  /** Throws what makes the whole run impossible. */
  compose(onEvent: (event: SigningEvent | ChangeEvent) => void): Promise<ComposedChange>;
  /** What to type to finish the run; undefined if nothing can be resumed. */
  readonly resumeCommand?: string | undefined;
  /** Throws if the files may not be written there. */
  checkOutputs?(files: readonly FileToSign[]): void;
}

/** Returns the exit code. */
export async function runChanges(run: ChangeRun, options: LinesOptions, io: Io): Promise<number> {
  const { verb } = run;
  using console = changeConsole(io, options, verb, run.resumeCommand);
  await using change = await run.compose((event) => console.event(event));
  const { warnings = [], noteEnd } = change;
  for (const warning of warnings) console.warning(warning);
  const files = await resolveOutputs(run.inputs, run.output);
  run.checkOutputs?.(files);
  console.expect(files.length);
  const work = async (signal: AbortSignal): Promise<number> => {
    const result = await change.changeFiles(files, signal);
    if (result.files.length === 0) throw cliErrors('nothing-to-sign');
    if (options.json) io.stdout.write(jsonText(changesJson(result, verb)));
    for (const warning of result.warnings.slice(warnings.length)) console.warning(warning);
    console.summary(result.files);
    if (noteEnd !== undefined) io.onSuccess(noteEnd);
    const exitCode = exitCodeFor(
      result.files.flatMap((file) => (file.status === 'failed' ? [file.error.category] : [])),
    );
    return exitCode;
  };
  return await runInterruptibly({ console, removeTemporaryFiles: change.removeTemporaryFiles, work }, io);
}

/** The files that the arguments of a command name. `output`: path of --output, if there is one. `ofAnyKind`: as in `InputOptions`. */
export function inputsOf(
  named: readonly string[],
  { recursive = false, exclude }: Pick<OptionsOf<'remove'>, 'recursive' | 'exclude'>,
  output: string | undefined,
  io: Io,
  ofAnyKind = false,
): Promise<InputPath[]> {
  return expandInputs(named, { recursive, exclude, ofAnyKind, stdin: () => io.stdin, outputFolder: output });
}
