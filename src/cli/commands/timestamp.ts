/** `codesign-remote timestamp`: gives signatures that are there the timestamps they lack. */

import { composeTimestamping } from '../../app/compose-changes.ts';
import { composeStored } from '../../app/compose-config.ts';
import { readOutput } from '../../options/commands/common.ts';
import { resolveTimestampingSettings } from '../../options/commands/timestamp.ts';
import type { OptionsOf } from '../../options/table.ts';
import { expandInputs } from '../input/inputs.ts';
import type { Io } from '../io.ts';
import { type ChangeRun, runChanges } from './run-changes.ts';

/** Gives the exit code. Throws what makes the whole run impossible: usage, settings. */
export async function timestamp(named: readonly string[], options: OptionsOf<'timestamp'>, io: Io): Promise<number> {
  const settings = resolveTimestampingSettings(options, io.env, await composeStored(options, io.env));
  const output = readOutput(options.output);
  const { recursive = false } = options;
  const inputs = await expandInputs(named, {
    recursive,
    exclude: options.exclude,
    stdin: () => io.stdin,
    outputFolder: output,
  });
  const run: ChangeRun = {
    verb: 'timestamped',
    inputs,
    output,
    compose: (onEvent) => composeTimestamping(settings, io.env, onEvent),
  };
  return runChanges(run, options, io);
}
