/** `codesign-remote sign`: from typed options to signed files, lines for people and a document for programs. */

import { composeSigning } from '../../app/compose.ts';
import { EXIT_SIGINT, EXIT_SIGTERM, exitCodeFor } from '../../errors/exit-codes.ts';
import type { SettingsOptions } from '../../settings/options.ts';
import { resolveSettings } from '../../settings/settings.ts';
import { Console } from '../console.ts';
import { cliErrors } from '../errors.ts';
import { expandInputs } from '../inputs.ts';
import type { Io } from '../io.ts';
import { resultJson } from '../json.ts';
import { resolveOutputs } from '../outputs.ts';

export interface SignCommandOptions extends SettingsOptions {
  readonly recursive?: boolean;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

const SIGNAL_EXIT_CODES = { SIGINT: EXIT_SIGINT, SIGTERM: EXIT_SIGTERM };

/** Gives the exit code. Throws what makes the whole run impossible: usage, settings, the certificate. */
export async function sign(named: readonly string[], options: SignCommandOptions, io: Io): Promise<number> {
  const { quiet = false, verbose = false, json = false } = options;
  const console = new Console(io, { quiet, verbose, json });
  const settings = resolveSettings(options, io.env);
  const inputs = await expandInputs(named, { recursive: options.recursive ?? false, stdin: io.stdin });

  await using composition = await composeSigning(settings, io.env, (event) => console.event(event));
  for (const warning of composition.warnings) console.warning(warning);
  const files = await resolveOutputs(inputs, settings.output, settings.dryRun);

  const interruption = listenForInterruption(io, console);
  try {
    const result = await composition.signFiles(files, interruption.signal);
    if (result.files.length === 0) throw cliErrors('nothing-to-sign');
    if (json) io.stdout.write(`${JSON.stringify(resultJson(result, composition.warnings), undefined, 2)}\n`);
    console.summary(result);
    const categories = result.files.flatMap((file) => (file.status === 'failed' ? [file.error.category] : []));
    return interruption.exitCode() ?? exitCodeFor(categories);
  } finally {
    interruption.stopListening();
  }
}

/** The first signal lets calls under way finish; the second ends at once. */
function listenForInterruption(io: Io, console: Console) {
  const controller = new AbortController();
  let exitCode: number | undefined;
  const stopListening = io.onSignal((signal) => {
    if (exitCode !== undefined) io.exit(exitCode);
    exitCode = SIGNAL_EXIT_CODES[signal];
    console.warning('interrupted: waiting for calls under way; a second interrupt ends at once');
    controller.abort();
  });
  return { signal: controller.signal, exitCode: () => exitCode, stopListening };
}
