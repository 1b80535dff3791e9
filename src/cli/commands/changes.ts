import type { Readable } from 'node:stream';
import { composeAttaching, composeRemoving, composeTimestamping } from '../../app/compose-changes.ts';
import { composeStored } from '../../app/compose-config.ts';
import { openToRead } from '../../bytes/read-file.ts';
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

/** Returns the exit code. Throws errors of usage. */
export async function remove(named: readonly string[], options: OptionsOf<'remove'>, io: Io): Promise<number> {
  const output = readOutput(options.output);
  const inputs = await inputsOf(named, options, output, io);
  return runChanges({ verb: 'removed', inputs, output, compose: composeRemoving }, options, io);
}

/** Returns the exit code. Throws errors of usage and of reading the signature. */
export async function attach(path: string, signature: string, options: OptionsOf<'attach'>, io: Io): Promise<number> {
  const isStdin = signature === '-';
  const name = isStdin ? 'standard input' : signature;
  const open = async (): Promise<Readable> => (isStdin ? io.stdin : (await openToRead(signature)).createReadStream());
  return runChanges(
    {
      verb: 'attached',
      inputs: [{ path, pathInFolder: undefined }],
      output: readOutput(options.output),
      compose: (onEvent) => composeAttaching(open, name, onEvent),
    },
    options,
    io,
  );
}
