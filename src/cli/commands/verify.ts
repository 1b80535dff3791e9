import { composeVerifying } from '../../app/compose-verifying.ts';
import { combineExitCodes, EXIT_NOT_VERIFIED, exitCodeFor } from '../../errors/exit-codes.ts';
import { identityAt } from '../../files/input-file.ts';
import { resolveVerifySettings, type VerifySettings } from '../../options/commands/verify.ts';
import type { OptionsOf } from '../../options/table.ts';
import type { VerifiedFile } from '../../verifying/verdict.ts';
import { cliErrors } from '../errors.ts';
import type { InputPath } from '../input/inputs.ts';
import { withProgress } from '../interruption.ts';
import type { Io } from '../io.ts';
import { jsonText } from '../output/json.ts';
import type { Progress } from '../output/progress/progress.ts';
import { verdictsJson } from '../output/verdict-json.ts';
import { annotateVerdict, isGood, printVerdict, printVerdictCounts } from '../output/verdict-text.ts';
import { inputsOf } from './run-changes.ts';

/** Returns the exit code. Throws what makes the whole run impossible: usage, roots that cannot be read. */
export async function verify(named: readonly string[], options: OptionsOf<'verify'>, io: Io): Promise<number> {
  const { json = false, quiet = false } = options;
  const settings = resolveVerifySettings(options, io.env);
  const { catalog } = settings;
  const own = catalog === undefined ? undefined : identityAt(catalog);
  const all = await inputsOf(named, options, undefined, io, catalog !== undefined);
  const inputs = own === undefined ? all : all.filter(({ path }) => identityAt(path) !== own);
  const print = (file: VerifiedFile): void => {
    if (!json) printVerdict(file, options, io);
    annotateVerdict(file, io, json);
  };
  const words = { doing: 'verifying', done: 'verified' };
  const { files, rootsFrom } = await withProgress(words, options, io, (progress) =>
    verifyAll(inputs, settings, io, { progress, print }),
  );
  if (files.length === 0) throw cliErrors('nothing-to-sign');
  if (json) io.stdout.write(jsonText(verdictsJson(files, rootsFrom)));
  else if (!quiet) printVerdictCounts(files, io);
  return combineExitCodes(files.flatMap(exitCodeOf));
}

async function verifyAll(
  inputs: readonly InputPath[],
  settings: VerifySettings,
  io: Io,
  { progress, print }: { readonly progress: Progress; readonly print: (file: VerifiedFile) => void },
): Promise<{ readonly files: readonly VerifiedFile[]; readonly rootsFrom: string | undefined }> {
  await using composition = await composeVerifying(settings, io.env, (path, bytes, size) =>
    progress.event({ type: 'bytes-read', path, bytes, size }),
  );
  const files: VerifiedFile[] = [];
  progress.expect(inputs.length);
  for (const input of inputs) {
    const { path } = input;
    progress.event({ type: 'file-started', path });
    const file = await composition.verifyFile(path);
    progress.event({ type: 'file-finished', outcome: { path, status: 'verified' } });
    if (isLeftOut(input, file)) continue;
    files.push(file);
    print(file);
  }
  return { files, rootsFrom: composition.rootsFrom };
}

/** In a folder, files of other formats are left out. */
function isLeftOut({ pathInFolder }: InputPath, { error }: VerifiedFile): boolean {
  return pathInFolder !== undefined && error?.code === 'unsupported-format';
}

function exitCodeOf(file: VerifiedFile): number[] {
  if (file.error !== undefined) return [exitCodeFor([file.error.category])];
  return isGood(file) ? [] : [EXIT_NOT_VERIFIED];
}
