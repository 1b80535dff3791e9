/** `codesign-remote resume`: lists, finishes or forgets the calls that earlier runs left unfinished. */

import { composeResume, type ResumeComposition } from '../../app/compose-resume.ts';
import { exitCodeFor } from '../../errors/exit-codes.ts';
import type { OptionsOf } from '../../options/table.ts';
import type { ResumedCall } from '../../signing/resume/resume.ts';
import { runInterruptibly } from '../interruption.ts';
import type { Io } from '../io.ts';
import { ResumeConsole, resumedJson } from '../output/changes/resume.ts';
import { jsonText } from '../output/json.ts';

/** Returns the exit code. Throws what makes the whole run impossible: usage, settings, the journal. */
export async function resume(options: OptionsOf<'resume'>, io: Io): Promise<number> {
  const { json = false, dryRun = false } = options;
  using console = new ResumeConsole(io, options);
  await using composition = await composeResume(options, io.env, (event) => console.event(event));
  const work = async (signal: AbortSignal): Promise<number> => {
    const calls = await run(composition, options, signal);
    const warnings = composition.warnings();
    if (json) io.stdout.write(jsonText(resumedJson(calls, warnings)));
    for (const warning of warnings) console.warning(warning);
    console.calls(calls);
    io.onSuccess(composition.noteEnd);
    const categories = dryRun ? [] : calls.flatMap(({ error }) => (error === undefined ? [] : [error.category]));
    const exitCode = exitCodeFor(categories);
    return exitCode;
  };
  return await runInterruptibly({ console, removeTemporaryFiles: composition.removeTemporaryFiles, work }, io);
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
