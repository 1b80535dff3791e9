/** `codesign-remote remove`: takes all signatures out of files. */

import { composeRemoving } from '../../app/compose-changes.ts';
import { readOutput } from '../../options/commands/common.ts';
import type { OptionsOf } from '../../options/table.ts';
import { expandInputs } from '../input/inputs.ts';
import type { Io } from '../io.ts';
import { type ChangeRun, runChanges } from './run-changes.ts';

/** Gives the exit code. Throws what makes the whole run impossible: usage. */
export async function remove(named: readonly string[], options: OptionsOf<'remove'>, io: Io): Promise<number> {
  const output = readOutput(options.output);
  const { recursive = false } = options;
  const inputs = await expandInputs(named, {
    recursive,
    exclude: options.exclude,
    stdin: () => io.stdin,
    outputFolder: output,
  });
  const run: ChangeRun = { verb: 'removed', inputs, output, compose: async (onEvent) => composeRemoving(onEvent) };
  return runChanges(run, options, io);
}
