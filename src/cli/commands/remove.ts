/** `codesign-remote remove`: removes all signatures from files. */

import { composeRemoving } from '../../app/compose-changes.ts';
import { readOutput } from '../../options/commands/common.ts';
import type { OptionsOf } from '../../options/table.ts';
import type { Io } from '../io.ts';
import { inputsOf, runChanges } from './run-changes.ts';

/** Returns the exit code. Throws errors of usage. */
export async function remove(named: readonly string[], options: OptionsOf<'remove'>, io: Io): Promise<number> {
  const output = readOutput(options.output);
  const inputs = await inputsOf(named, options, output, io);
  return runChanges({ verb: 'removed', inputs, output, compose: composeRemoving }, options, io);
}
