import type { Readable } from 'node:stream';
import { openLocalRun, openTimestamping } from '../../app/compose-changes.ts';
import { composeStored } from '../../app/compose-config.ts';
import { openToRead } from '../../bytes/read-file.ts';
import { existingForm } from '../../files/file-names.ts';
import { resolve } from '../../options/resolve.ts';
import type { OptionsOf } from '../../options/table.ts';
import { attachSignature, readSignatureFile } from '../../signing/changes/attach.ts';
import { removeSignatures } from '../../signing/changes/remove.ts';
import { timestampFiles } from '../../signing/changes/timestamp.ts';
import { resolveOutputs } from '../input/inputs.ts';
import { listenForSignals } from '../interruption.ts';
import type { Io } from '../io.ts';
import { changeConsole } from '../output/changes/change-console.ts';
import { inputsOf, printChanges } from './run-changes.ts';

export async function timestamp(named: readonly string[], options: OptionsOf<'timestamp'>, io: Io): Promise<number> {
  const settings = resolve('timestamp', options, io.env, await composeStored(options, io.env));
  const { output } = settings;
  const inputs = await inputsOf(named, options, output, io);
  using console = changeConsole(io, options, 'timestamped');
  await using opened = await openTimestamping(settings, io.env, console.event);
  const files = resolveOutputs(inputs, output);
  using interruption = listenForSignals(console, opened, io);
  const result = await timestampFiles(files, opened, opened.run, interruption.signal);
  const exitCode = await printChanges(result, console, options, io);
  return interruption.exitCode ?? exitCode;
}

export async function remove(named: readonly string[], options: OptionsOf<'remove'>, io: Io): Promise<number> {
  const { output } = resolve('remove', options, io.env);
  const inputs = await inputsOf(named, options, output, io);
  using console = changeConsole(io, options, 'removed');
  const opened = await openLocalRun(console.event);
  const files = resolveOutputs(inputs, output);
  using interruption = listenForSignals(console, opened, io);
  const result = await removeSignatures(files, opened.run, interruption.signal);
  const exitCode = await printChanges(result, console, options, io);
  return interruption.exitCode ?? exitCode;
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
  const opened = await openLocalRun(console.event);
  const files = resolveOutputs([{ path, pathInFolder: undefined, isFound: false }], output);
  using interruption = listenForSignals(console, opened, io);
  const result = await attachSignature(files, cms, opened.run, interruption.signal);
  const exitCode = await printChanges(result, console, options, io);
  return interruption.exitCode ?? exitCode;
}
