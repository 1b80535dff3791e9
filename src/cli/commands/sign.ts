/** `codesign-remote sign`: from typed options to signed files, lines for people and a document for programs. */

import { composeSigning } from '../../app/compose.ts';
import { EXIT_SIGINT, EXIT_SIGTERM, exitCodeFor } from '../../errors/exit-codes.ts';
import type { SettingsOptions } from '../../settings/options.ts';
import { resolveSettings } from '../../settings/settings.ts';
import { Console } from '../console.ts';
import { cliErrors } from '../errors.ts';
import { expandInputs } from '../inputs.ts';
import type { EndingSignal, Io } from '../io.ts';
import { jsonText, resultJson } from '../json.ts';
import { resolveOutputs } from '../outputs.ts';

export interface SignCommandOptions extends SettingsOptions {
  readonly recursive?: boolean;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

const SIGNAL_EXIT_CODES: Readonly<Record<EndingSignal, number>> = {
  SIGINT: EXIT_SIGINT,
  SIGTERM: EXIT_SIGTERM,
  SIGHUP: EXIT_SIGTERM,
};
/** npm hands on a Ctrl-C that the terminal has sent to this program already: two within so short a time are one. */
const ECHO_MILLISECONDS = 1000;

/** Gives the exit code. Throws what makes the whole run impossible: usage, settings, the certificate. */
export async function sign(named: readonly string[], options: SignCommandOptions, io: Io): Promise<number> {
  const { quiet = false, verbose = false, json = false } = options;
  const console = new Console(io, { quiet, verbose, json });
  const settings = resolveSettings(options, io.env);
  const inputs = await expandInputs(named, {
    recursive: options.recursive ?? false,
    stdin: () => io.stdin,
    outputFolder: settings.output,
  });

  await using composition = await composeSigning(settings, io.env, (event) => console.event(event));
  for (const warning of composition.warnings) console.warning(warning);
  const files = await resolveOutputs(inputs, settings.output);

  const interruption = listenForInterruption(io, console, composition.removeTemporaryFiles);
  try {
    const result = await composition.signFiles(files, interruption.signal);
    if (result.files.length === 0) throw cliErrors('nothing-to-sign');
    if (json) io.stdout.write(jsonText(resultJson(result)));
    console.summary(result);
    const categories = result.files.flatMap((file) => (file.status === 'failed' ? [file.error.category] : []));
    const { exitCode = exitCodeFor(categories) } = interruption;
    return exitCode;
  } finally {
    interruption.stopListening();
  }
}

/** The first signal lets calls under way finish; the second ends at once. */
function listenForInterruption(io: Io, console: Console, removeTemporaryFiles: () => void) {
  const controller = new AbortController();
  let exitCode: number | undefined;
  let first = 0;
  const stopListening = io.onSignal((signal) => {
    if (exitCode !== undefined) {
      if (performance.now() - first < ECHO_MILLISECONDS) return;
      removeTemporaryFiles();
      io.exit(exitCode);
    }
    first = performance.now();
    exitCode = SIGNAL_EXIT_CODES[signal];
    console.warning('interrupted: waiting for calls under way; a second interrupt ends at once');
    controller.abort();
  });
  return {
    signal: controller.signal,
    /** That of the first signal, once one has come. */
    get exitCode() {
      return exitCode;
    },
    stopListening,
  };
}
