/** `codesign-remote sign`: from typed options to signed files, lines for people and a document for programs. */

import { resolve } from 'node:path';
import { composeSigning } from '../../app/compose.ts';
import { composeStored } from '../../app/compose-config.ts';
import { exitCodeFor } from '../../errors/exit-codes.ts';
import { resolveSettings } from '../../options/commands/sign.ts';
import { checkProjectOutputs } from '../../options/stored/project-output.ts';
import type { OptionsOf } from '../../options/table.ts';
import { cliErrors } from '../errors.ts';
import { expandInputs, resolveOutputs } from '../input/inputs.ts';
import { listenForInterruption } from '../input/interruption.ts';
import type { Io } from '../io.ts';
import { Console } from '../output/changes/console.ts';
import { jsonText, resultJson } from '../output/json.ts';

/** Gives the exit code. Throws what makes the whole run impossible: usage, settings, the certificate. */
export async function sign(named: readonly string[], options: OptionsOf<'sign'>, io: Io): Promise<number> {
  const { quiet = false, verbose = false, json = false } = options;
  using console = new Console(io, { quiet, verbose, json });
  const settings = resolveSettings(options, io.env, await composeStored(options, io.env));
  const inputs = await expandInputs(named, {
    recursive: options.recursive ?? false,
    exclude: options.exclude,
    stdin: () => io.stdin,
    outputFolder: settings.output,
  });

  await using composition = await composeSigning(settings, io.env, (event) => console.event(event));
  for (const warning of composition.warnings) console.warning(warning);
  const files = await resolveOutputs(inputs, settings.output);
  if (settings.projectOutput !== undefined) {
    const outputs = files.map(({ output }) => resolve(output));
    checkProjectOutputs(settings.projectOutput, outputs);
  }
  console.expect(files.length);

  const interruption = listenForInterruption(io, {
    warn: (text) => console.warning(text),
    removeTemporaryFiles: composition.removeTemporaryFiles,
    stopProgress: () => console.stopProgress(),
  });
  try {
    const result = await composition.signFiles(files, interruption.signal);
    if (result.files.length === 0) throw cliErrors('nothing-to-sign');
    if (json) io.stdout.write(jsonText(resultJson(result)));
    for (const warning of result.warnings.slice(composition.warnings.length)) console.warning(warning);
    console.summary(result);
    const categories = result.files.flatMap((file) => (file.status === 'failed' ? [file.error.category] : []));
    io.onSuccess(composition.noteEnd);
    const { exitCode = exitCodeFor(categories) } = interruption;
    return exitCode;
  } finally {
    interruption.stopListening();
  }
}
