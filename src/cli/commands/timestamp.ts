/** `codesign-remote timestamp`: adds timestamps to signatures without one. */

import { composeTimestamping } from '../../app/compose-changes.ts';
import { composeStored } from '../../app/compose-config.ts';
import { readOutput } from '../../options/commands/common.ts';
import { resolveTimestampingSettings } from '../../options/commands/timestamp.ts';
import type { OptionsOf } from '../../options/table.ts';
import type { Io } from '../io.ts';
import { inputsOf, runChanges } from './run-changes.ts';

/** Returns the exit code. Throws what makes the whole run impossible: usage, settings. */
export async function timestamp(named: readonly string[], options: OptionsOf<'timestamp'>, io: Io): Promise<number> {
  const settings = resolveTimestampingSettings(options, io.env, await composeStored(options, io.env));
  const output = readOutput(options.output);
  const inputs = await inputsOf(named, options, output, io);
  return runChanges(
    { verb: 'timestamped', inputs, output, compose: (onEvent) => composeTimestamping(settings, io.env, onEvent) },
    options,
    io,
  );
}
