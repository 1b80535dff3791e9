import { composeVerifying } from '../../app/compose-verifying.ts';
import { combineExitCodes, EXIT_NOT_VERIFIED, exitCodeFor } from '../../errors/exit-codes.ts';
import { plural } from '../../errors/plural.ts';
import { identityAt } from '../../files/input-file.ts';
import { type Resolved, resolve } from '../../options/resolve.ts';
import type { OptionsOf } from '../../options/table.ts';
import type { VerifiedFile } from '../../verifying/verdict.ts';
import { cliErrors } from '../errors.ts';
import { expandInputs, type InputPath } from '../input/inputs.ts';
import { reportReads, withProgress } from '../interruption.ts';
import type { Io } from '../io.ts';
import { jsonText } from '../output/json.ts';
import { Lines } from '../output/lines.ts';
import type { Progress } from '../output/progress/progress.ts';
import { verdictsJson } from '../output/verdict-json.ts';
import { annotateVerdict, isGood, printRootsHint, printVerdict, verdictCounts } from '../output/verdict-text.ts';
import { verifyEach, WORDS } from './verify-each.ts';

export async function verify(named: readonly string[], options: OptionsOf<'verify'>, io: Io): Promise<number> {
  const { json = false, quiet = false, inside, policy, printPolicy, why, maxUnpacked, output } = options;
  if (inside || printPolicy || [policy, why, maxUnpacked].some((value) => value !== undefined))
    return await (await import('./verify-inside.ts')).verifyInside(named, options, io);
  if (output !== undefined) throw cliErrors('output-without-policy');
  const settings = resolve('verify', options, io.env);
  const { catalog } = settings;
  const own = catalog === undefined ? undefined : identityAt(catalog);
  const all = await expandInputs(named, { ...options, ofAnyKind: catalog !== undefined }, io);
  const inputs = own === undefined ? all : all.filter(({ path }) => identityAt(path) !== own);
  const lines = new Lines(io, options);
  const files: VerifiedFile[] = [];
  let notTried = inputs.length;
  const onVerified = (input: InputPath, file: VerifiedFile): void => {
    notTried -= 1;
    if (isLeftOut(input, file)) return;
    files.push(file);
    if (file.error !== undefined && !json) {
      lines.failed(file.path, file.error);
      return;
    }
    if (!json) printVerdict(file, options, io);
    annotateVerdict(file, io, options);
  };
  const onInterrupt = (): void => {
    lines.printOthers();
    const counts = [...verdictCounts(files), `${notTried} not tried`];
    lines.progress(`${plural(files.length + notTried, 'file')}: ${counts.join(', ')}`);
  };
  const verifyInputs = (progress: Progress) => verifyAll(inputs, settings, io, progress, onVerified);
  const rootsFrom = await withProgress(WORDS, options, io, verifyInputs, onInterrupt);
  if (files.length === 0) throw cliErrors('nothing-to-sign');
  lines.printOthers();
  if (json) io.stdout.write(jsonText(verdictsJson(files, rootsFrom)));
  else {
    printRootsHint(files, io);
    if (!quiet && files.length > 1) io.stdout.write(`${verdictCounts(files).join(', ')}\n`);
  }
  return combineExitCodes(files.flatMap(exitCodeOf));
}

async function verifyAll(
  inputs: readonly InputPath[],
  settings: Resolved<'verify'>,
  io: Io,
  progress: Progress,
  onVerified: (input: InputPath, file: VerifiedFile) => void,
) {
  await using composition = await composeVerifying(settings, io.env, reportReads(progress));
  await verifyEach(inputs, progress, async (input) => onVerified(input, await composition.verifyFile(input.path)));
  return composition.rootsFrom;
}

/** In folders, unsupported files are ignored. */
function isLeftOut({ pathInFolder }: InputPath, { error }: VerifiedFile): boolean {
  return pathInFolder !== undefined && error?.code === 'unsupported-format';
}

function exitCodeOf(file: VerifiedFile): number[] {
  if (file.error !== undefined) return [exitCodeFor([file.error.category])];
  return isGood(file) ? [] : [EXIT_NOT_VERIFIED];
}
