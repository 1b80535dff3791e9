/** The end of `sign`, `timestamp`, `remove` and `attach`: changed files, lines for people and a JSON document. */

import { exitCodeFor } from '../../errors/exit-codes.ts';
import type { OptionsOf } from '../../options/table.ts';
import type { ChangeFilesResult } from '../../signing/outcome.ts';
import { cliErrors } from '../errors.ts';
import { expandInputs, type InputPath } from '../input/inputs.ts';
import { runInterruptibly } from '../interruption.ts';
import type { Io } from '../io.ts';
import type { ChangeConsole } from '../output/changes/change-console.ts';
import { changesJson } from '../output/changes/change-json.ts';
import { jsonText } from '../output/json.ts';
import type { LinesOptions } from '../output/lines.ts';

/** What the files are changed with. */
interface OpenedChange {
  removeTemporaryFiles(): void;
  /** Printed already. The warnings of the result begin with them. */
  readonly warnings?: readonly string[];
  /** The last action of a successful run. */
  noteEnd?(): void;
}

/** Returns the exit code. */
export function changeAndPrint(
  change: (signal: AbortSignal) => Promise<ChangeFilesResult>,
  { removeTemporaryFiles, warnings = [], noteEnd }: OpenedChange,
  console: ChangeConsole,
  options: LinesOptions,
  io: Io,
): Promise<number> {
  const work = async (signal: AbortSignal): Promise<number> => {
    const result = await change(signal);
    if (result.files.length === 0) throw cliErrors('nothing-to-sign');
    if (options.json) io.stdout.write(jsonText(changesJson(result, console.verb)));
    for (const warning of result.warnings.slice(warnings.length)) console.warning(warning);
    console.summary(result.files);
    if (noteEnd !== undefined) io.onSuccess(noteEnd);
    return exitCodeFor(result.files.flatMap((file) => (file.status === 'failed' ? [file.error.category] : [])));
  };
  return runInterruptibly({ console, removeTemporaryFiles, work }, io);
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
