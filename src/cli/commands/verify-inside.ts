import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { composeInside, type InsideResult } from '../../app/compose-inside.ts';
import { locationOf } from '../../containers/walk.ts';
import { combineExitCodes, EXIT_NOT_VERIFIED, exitCodeFor } from '../../errors/exit-codes.ts';
import { type Resolved, resolve } from '../../options/resolve.ts';
import type { OptionsOf } from '../../options/table.ts';
import type { ClassifiedFile } from '../../policy/classified-file.ts';
import { policyErrors } from '../../policy/errors.ts';
import { firstPolicy, rootsOf } from '../../policy/first-policy.ts';
import { cliErrors } from '../errors.ts';
import { expandInputs, type InputPath } from '../input/inputs.ts';
import { reportReads, withProgress } from '../interruption.ts';
import type { Io } from '../io.ts';
import { insideJson } from '../output/inside-json.ts';
import { annotateFailures, minimumLine, printClassified, resultCounts, ruleLines } from '../output/inside-text.ts';
import { jsonText } from '../output/json.ts';
import { Lines, shown, writeLines } from '../output/lines.ts';
import type { Progress } from '../output/progress/progress.ts';
import { printRootsHint } from '../output/verdict-text.ts';
import { writeOutput } from '../output/write-output.ts';
import { verifyEach, WORDS } from './verify-each.ts';

/** Throws errors that affect the whole run: wrong usage, or a policy or roots that cannot be read. */
export async function verifyInside(named: readonly string[], options: OptionsOf<'verify'>, io: Io): Promise<number> {
  const settings = resolve('verify', options, io.env);
  if (options.output !== undefined && !options.printPolicy) throw cliErrors('output-without-policy');
  const inputs = await expandInputs(named, { exclude: options.exclude, recursive: true, ofAnyKind: true }, io);
  const verifyInputs = (progress: Progress) => verifyAll(inputs, settings, io, progress);
  const result = await withProgress(WORDS, options, io, verifyInputs);
  const files = result.files.flat();
  if (options.printPolicy) return await printPolicy(files, options, io);
  const lines = new Lines(io, options);
  for (const warning of result.warnings) lines.warning(warning);
  if (options.why !== undefined) explain(options.why, files, result.policy, io);
  else print(result, options, io);
  const summaryFailure = annotateFailures(files, options, io);
  if (summaryFailure !== undefined) lines.warning(summaryFailure);
  return combineExitCodes([...files.flatMap(exitCodeOf), ...result.minimum.map(() => EXIT_NOT_VERIFIED)]);
}

async function verifyAll(
  inputs: readonly InputPath[],
  settings: Resolved<'verify'>,
  io: Io,
  progress: Progress,
): Promise<InsideResult> {
  await using composition = await composeInside(settings, io.env, { onRead: reportReads(progress) });
  const files: (readonly ClassifiedFile[])[] = [];
  await verifyEach(inputs, progress, async ({ path, pathInFolder }) => {
    files.push(await composition.verify(path, pathInFolder));
  });
  const end = composition.end();
  return { files, ...end };
}

const POLICY = 'codesign-policy.json';
const ROOTS = 'codesign-roots.pem';

/** Never replaces a file. */
async function printPolicy(files: readonly ClassifiedFile[], options: OptionsOf<'verify'>, io: Io): Promise<number> {
  const { output = POLICY } = options;
  const lines = new Lines(io, options);
  const roots = rootsOf(files);
  const path = join(dirname(output), ROOTS);
  const existing = [output, path].find((each) => existsSync(each));
  if (existing !== undefined) throw cliErrors('policy-exists', { path: existing });
  if (roots !== '') {
    await writeOutput(path, Buffer.from(roots), { isNew: true });
    lines.result(`created  ${shown(path)}  (compare each SHA-256 in it with the one that its publisher announces)`);
  }
  await writeOutput(output, Buffer.from(firstPolicy(files, ROOTS)), { isNew: true });
  lines.result(
    `created  ${shown(output)}  (replace each TODO, then run codesign-remote verify --policy ${shown(output)})`,
  );
  return 0;
}

function print(result: InsideResult, options: OptionsOf<'verify'>, io: Io): void {
  const { files, policy, minimum } = result;
  if (options.json) {
    io.stdout.write(jsonText(insideJson(result, options.verbose)));
    return;
  }
  const all = files.flat();
  const rules = policy?.rules ?? [];
  if (!options.quiet) for (const line of ruleLines(rules, all)) writeLines(io.stdout, [line], io);
  printClassified(all, rules, options, io);
  for (const part of minimum) writeLines(io.stdout, [minimumLine(part)], io);
  const failed = all.flatMap(({ verified, isFailure }) => (isFailure && verified !== undefined ? [verified] : []));
  printRootsHint(failed, io);
  if (!options.quiet) writeLines(io.stdout, [resultCounts(all)], io);
}

function explain(location: string, files: readonly ClassifiedFile[], policy: InsideResult['policy'], io: Io): void {
  const file = files.find(({ path }) => locationOf(path) === location);
  if (file === undefined) throw policyErrors('location-not-found', { location });
  const { kind, result, cause, rule } = file;
  const rules = policy?.rules ?? [];
  const decision =
    rule === undefined ? 'no rule matches: the defaults apply' : JSON.stringify(rules[rule], undefined, 2);
  const number = rule === undefined ? '' : `rule ${rule + 1}: `;
  const outcome = `${location}: ${kind}, ${result}${cause === undefined ? '' : ` (${cause})`}`;
  writeLines(io.stdout, [outcome, ...`${number}${decision}`.split('\n')], io);
}

function exitCodeOf({ verified, isFailure, path }: ClassifiedFile): number[] {
  const { error } = verified ?? {};
  if (path.length === 1 && error !== undefined) return [exitCodeFor([error.category])];
  return isFailure ? [EXIT_NOT_VERIFIED] : [];
}
