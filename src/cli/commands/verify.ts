/** `codesign-remote verify`: a verdict on each file, in words or as a document. */

import { composeVerifying } from '../../app/compose-verifying.ts';
import { combineExitCodes, EXIT_NOT_VERIFIED, exitCodeFor } from '../../errors/exit-codes.ts';
import { resolveVerifySettings, type VerifySettings } from '../../options/commands/verify.ts';
import type { OptionsOf } from '../../options/table.ts';
import type { VerifiedFile } from '../../verifying/verdict.ts';
import { cliErrors } from '../errors.ts';
import { expandInputs, type InputPath } from '../input/inputs.ts';
import { endOnSignal } from '../input/interruption.ts';
import type { Io } from '../io.ts';
import { jsonText } from '../output/json.ts';
import { openProgress, type Progress } from '../output/progress/progress.ts';
import { verdictsJson } from '../output/verdict-json.ts';
import { annotateVerdict, isGood, tellVerdict, tellVerdicts } from '../output/verdict-text.ts';

/** Gives the exit code. Throws what makes the whole run impossible: usage, roots that cannot be read. */
export async function verify(named: readonly string[], options: OptionsOf<'verify'>, io: Io): Promise<number> {
  const { recursive = false, json = false, quiet = false, verbose = false } = options;
  const settings = resolveVerifySettings(options, io.env);
  const inputs = await expandInputs(named, {
    recursive,
    exclude: options.exclude,
    stdin: () => io.stdin,
    outputFolder: undefined,
  });
  using progress = openProgress(io, { quiet, json, verbose }, { doing: 'verifying', done: 'verified' });
  const tell = (file: VerifiedFile): void => {
    if (!json) tellVerdict(file, { io, quiet, verbose });
    annotateVerdict(file, io, json);
  };
  const { files, rootsFrom } = await verifyAll(inputs, settings, io, { progress, tell });
  progress[Symbol.dispose]();
  if (files.length === 0) throw cliErrors('nothing-to-sign');
  if (json) io.stdout.write(jsonText(verdictsJson(files, rootsFrom)));
  else if (!quiet) tellVerdicts(files, io);
  return combineExitCodes(files.flatMap(exitCodeOf));
}

async function verifyAll(
  inputs: readonly InputPath[],
  settings: VerifySettings,
  io: Io,
  { progress, tell }: { readonly progress: Progress; readonly tell: (file: VerifiedFile) => void },
): Promise<{ readonly files: readonly VerifiedFile[]; readonly rootsFrom: string | undefined }> {
  await using composition = await composeVerifying(settings, io.env, (path, bytes, size) =>
    progress.hear({ type: 'bytes-read', path, bytes, size }),
  );
  const files: VerifiedFile[] = [];
  const stopListening = endOnSignal(io, () => progress[Symbol.dispose]());
  try {
    progress.expect(inputs.length);
    for (const { path, ...input } of inputs) {
      progress.hear({ type: 'file-started', path });
      const file = await composition.verifyFile(path);
      progress.hear({ type: 'file-finished', outcome: { path, status: 'verified' } });
      if (isLeftOut({ path, ...input }, file)) continue;
      files.push(file);
      tell(file);
    }
  } finally {
    stopListening();
  }
  return { files, rootsFrom: composition.rootsFrom };
}

/** Whoever names a folder means the files in it that can be signed. */
function isLeftOut({ placeInFolder }: InputPath, { error }: VerifiedFile): boolean {
  return placeInFolder !== undefined && error?.code === 'unsupported-format';
}

function exitCodeOf(file: VerifiedFile): number[] {
  if (file.error !== undefined) return [exitCodeFor([file.error.category])];
  return isGood(file) ? [] : [EXIT_NOT_VERIFIED];
}
