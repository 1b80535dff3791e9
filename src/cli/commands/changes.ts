import type { Readable } from 'node:stream';
import { openTimestamping } from '../../app/compose-changes.ts';
import { composeStored } from '../../app/compose-config.ts';
import { openRun } from '../../app/compose-local.ts';
import { openToRead } from '../../bytes/read-file.ts';
import { existingForm } from '../../files/file-names.ts';
import { resolve } from '../../options/resolve.ts';
import type { OptionsOf } from '../../options/table.ts';
import { attachSignature, readSignatureFile } from '../../signing/changes/attach.ts';
import { removeSignatures } from '../../signing/changes/remove.ts';
import { timestampFiles } from '../../signing/changes/timestamp.ts';
import { expandInputs, resolveOutputs } from '../input/inputs.ts';
import type { Io } from '../io.ts';
import { changeConsole } from '../output/changes/change-console.ts';
import { runChanges } from './run-changes.ts';

export async function timestamp(named: readonly string[], options: OptionsOf<'timestamp'>, io: Io): Promise<number> {
  const settings = resolve('timestamp', options, io.env, await composeStored(options, io.env));
  const { output } = settings;
  const inputs = await expandInputs(named, { ...options, output }, io);
  using console = changeConsole(io, options, 'timestamped');
  await using opened = await openTimestamping(
    { ...settings, fileDigests: options.json === true },
    io.env,
    console.event,
  );
  const files = resolveOutputs(inputs, output);
  return await runChanges({ console, options, io, opened }, (signal) =>
    timestampFiles(files, opened, opened.run, signal),
  );
}

export async function remove(named: readonly string[], options: OptionsOf<'remove'>, io: Io): Promise<number> {
  const { output } = resolve('remove', options, io.env);
  const inputs = await expandInputs(named, { ...options, output }, io);
  using console = changeConsole(io, options, 'removed');
  const opened = await openRun(console.event, { fileDigests: options.json === true });
  const files = resolveOutputs(inputs, output);
  return await runChanges({ console, options, io, opened }, (signal) => removeSignatures(files, opened.run, signal));
}

export async function attach(
  typed: string,
  typedSignature: string,
  options: OptionsOf<'attach'>,
  io: Io,
): Promise<number> {
  const [path, signature] = [existingForm(typed), existingForm(typedSignature)];
  const isStdin = signature === '-';
  const name = isStdin ? 'standard input' : signature;
  const open = async (): Promise<Readable> => (isStdin ? io.stdin : (await openToRead(signature)).createReadStream());
  const { output } = resolve('attach', options, io.env);
  using console = changeConsole(io, options, 'attached');
  const cms = await readSignatureFile(open, name);
  const opened = await openRun(console.event, { fileDigests: options.json === true });
  const files = resolveOutputs([{ path, pathInFolder: undefined, isFound: false }], output);
  return await runChanges({ console, options, io, opened }, (signal) =>
    attachSignature(files, cms, opened.run, signal),
  );
}
