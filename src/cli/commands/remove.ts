/** `codesign-remote remove`: takes all signatures out of files. */

import { composeRemoving } from '../../app/compose-changes.ts';
import { readOutput } from '../../options/change-settings.ts';
import { expandInputs } from '../input/inputs.ts';
import type { Io } from '../io.ts';
import { type ChangeCommandOptions, type ChangeRun, runChanges } from './run-changes.ts';

export interface RemoveCommandOptions extends ChangeCommandOptions {
  readonly recursive?: boolean;
  readonly exclude?: readonly string[];
}

/** Gives the exit code. Throws what makes the whole run impossible: usage. */
export async function remove(named: readonly string[], options: RemoveCommandOptions, io: Io): Promise<number> {
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
