/** `codesign-remote resume`: shows what earlier runs left, and finishes it or gives it up. */

import { composeResume, type ResumeComposition } from '../../app/compose-resume.ts';
import { exitCodeFor } from '../../errors/exit-codes.ts';
import type { OptionsOf } from '../../options/table.ts';
import type { ResumedCall } from '../../signing/resume/resume.ts';
import { listenForInterruption } from '../input/interruption.ts';
import type { Io } from '../io.ts';
import { ResumeConsole } from '../output/changes/resume-console.ts';
import { resumedJson } from '../output/changes/resume-json.ts';
import { jsonText } from '../output/json.ts';

/** Gives the exit code. Throws what makes the whole run impossible: usage, settings, the journal. */
export async function resume(options: OptionsOf<'resume'>, io: Io): Promise<number> {
  const { quiet = false, verbose = false, json = false, dryRun = false } = options;
  using console = new ResumeConsole(io, { quiet, verbose, json });
  await using composition = await composeResume(options, io.env, (event) => console.event(event));
  const interruption = listenForInterruption(io, {
    warn: (text) => console.warning(text),
    removeTemporaryFiles: composition.removeTemporaryFiles,
    stopProgress: () => console.stopProgress(),
  });
  try {
    const calls = await run(composition, options, interruption.signal);
    const warnings = composition.warnings();
    if (json) io.stdout.write(jsonText(resumedJson(calls, warnings)));
    for (const warning of warnings) console.warning(warning);
    console.calls(calls);
    const categories = dryRun ? [] : calls.flatMap(({ error }) => (error === undefined ? [] : [error.category]));
    io.onSuccess(composition.noteEnd);
    const { exitCode = exitCodeFor(categories) } = interruption;
    return exitCode;
  } finally {
    interruption.stopListening();
  }
}

async function run(
  composition: ResumeComposition,
  { forget = [], dryRun = false }: OptionsOf<'resume'>,
  signal: AbortSignal,
): Promise<readonly ResumedCall[]> {
  if (dryRun) return composition.list();
  if (forget.length === 0) return composition.resume(signal);
  const forgotten: ResumedCall[] = [];
  for (const id of new Set(forget)) forgotten.push(await composition.forget(id));
  return forgotten;
}
