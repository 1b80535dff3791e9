import { composeStored } from '../../app/compose-config.ts';
import { composeResume } from '../../app/compose-resume.ts';
import { exitCodeFor } from '../../errors/exit-codes.ts';
import type { OptionsOf } from '../../options/table.ts';
import { listenForSignals } from '../interruption.ts';
import type { Io } from '../io.ts';
import { resumeConsole, resumedJson } from '../output/changes/resume.ts';
import { jsonText } from '../output/json.ts';

export async function resume(options: OptionsOf<'resume'>, io: Io): Promise<number> {
  const { json = false, dryRun = false, forgetUnknown = false } = options;
  const stored = await composeStored(options, io.env);
  using console = resumeConsole(io, options);
  await using composition = await composeResume(options, stored, io, (event) => console.event(event));
  using interruption = listenForSignals(console, composition, io);
  const calls = await composition.run(interruption.signal);
  const warnings = composition.warnings();
  if (json) io.stdout.write(jsonText(resumedJson(calls, warnings)));
  for (const warning of warnings) console.warning(warning);
  console.calls(calls, forgetUnknown ? 'no call has an unknown outcome' : 'nothing is unfinished');
  io.onSuccess(composition.noteEnd);
  const categories = dryRun ? [] : calls.flatMap(({ error }) => (error === undefined ? [] : [error.category]));
  const exitCode = exitCodeFor(categories);
  return interruption.exitCode ?? exitCode;
}
