/** What `timestamp`, `remove` and `attach` have in common: from inputs to files changed, lines for people and a document for programs. */

import type { ChangeComposition } from '../../app/compose-changes.ts';
import { exitCodeFor } from '../../errors/exit-codes.ts';
import type { OptionsOf } from '../../options/table.ts';
import type { ChangeEvent } from '../../signing/change-outcome.ts';
import { cliErrors } from '../errors.ts';
import { type InputPath, resolveOutputs } from '../input/inputs.ts';
import { listenForInterruption } from '../input/interruption.ts';
import type { Io } from '../io.ts';
import { ChangeConsole, type ChangeVerb } from '../output/changes/change-console.ts';
import { changesJson } from '../output/changes/change-json.ts';
import { jsonText } from '../output/json.ts';

export interface ChangeRun {
  readonly verb: ChangeVerb;
  readonly inputs: readonly InputPath[];
  /** Path of --output; undefined for changes in place. */
  readonly output: string | undefined;
  /** Throws what makes the whole run impossible. */
  compose(onEvent: (event: ChangeEvent) => void): Promise<ChangeComposition>;
}

/** Gives the exit code. */
export async function runChanges(
  { verb, inputs, output, compose }: ChangeRun,
  { json = false, quiet = false, verbose = false }: Pick<OptionsOf<'attach'>, 'json' | 'quiet' | 'verbose'>,
  io: Io,
): Promise<number> {
  using console = new ChangeConsole(io, { json, quiet, verbose }, verb);
  await using composition = await compose((event) => console.event(event));
  const files = await resolveOutputs(inputs, output);
  console.expect(files.length);
  const interruption = listenForInterruption(io, {
    warn: (text) => console.warning(text),
    removeTemporaryFiles: composition.removeTemporaryFiles,
    stopProgress: () => console.stopProgress(),
  });
  try {
    const result = await composition.changeFiles(files, interruption.signal);
    if (result.files.length === 0) throw cliErrors('nothing-to-sign');
    if (json) io.stdout.write(jsonText(changesJson(result, verb)));
    console.summary(result);
    const categories = result.files.flatMap((file) => (file.status === 'failed' ? [file.error.category] : []));
    const { exitCode = exitCodeFor(categories) } = interruption;
    return exitCode;
  } finally {
    interruption.stopListening();
  }
}
