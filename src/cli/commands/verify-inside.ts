import { basename } from 'node:path';
import { composeVerifying } from '../../app/compose-verifying.ts';
import { type ContainedVerdict, locationOf } from '../../containers/walk.ts';
import { combineExitCodes, EXIT_NOT_VERIFIED, exitCodeFor } from '../../errors/exit-codes.ts';
import { KINDS } from '../../formats/kinds.ts';
import { type Resolved, resolve } from '../../options/resolve.ts';
import type { OptionsOf } from '../../options/table.ts';
import { policyErrors } from '../../policy/errors.ts';
import { readPolicy } from '../../policy/policy-file.ts';
import { type ClassifiedFile, createClassifier } from '../../policy/rules.ts';
import { cliErrors } from '../errors.ts';
import type { InputPath } from '../input/inputs.ts';
import { withProgress } from '../interruption.ts';
import type { Io } from '../io.ts';
import { type InsideResult, insideJson } from '../output/inside-json.ts';
import { annotateFailures, minimumLine, printClassified, resultCounts, ruleLines } from '../output/inside-text.ts';
import { jsonText } from '../output/json.ts';
import { Lines, writeLines } from '../output/lines.ts';
import type { Progress } from '../output/progress/progress.ts';
import { printRootsHint } from '../output/verdict-text.ts';
import { inputsOf } from './run-changes.ts';

/** Throws errors that affect the whole run: wrong usage, or a policy or roots that cannot be read. */
export async function verifyInside(named: readonly string[], options: OptionsOf<'verify'>, io: Io): Promise<number> {
  const settings = resolve('verify', options, io.env);
  if (options.output !== undefined && !options.printPolicy) throw cliErrors('output-without-policy');
  const policy = settings.policy === undefined ? undefined : await readPolicy(settings.policy, KINDS);
  const withRoots = { ...settings, roots: [...settings.roots, ...(policy?.roots ?? [])] };
  const inputs = await inputsOf(named, { ...options, recursive: true }, undefined, io, true);
  const classifier = createClassifier(policy, new Date().toISOString().slice(0, 10));
  const files: (readonly ClassifiedFile[])[] = [];
  const onVerified = ({ path, pathInFolder = basename(path) }: InputPath, found: readonly ContainedVerdict[]): void => {
    files.push(found.map((file) => classifier.classify({ ...file, pathInFolder })));
  };
  const words = { doing: 'verifying', done: 'verified' };
  const roots = await withProgress(words, options, io, (progress) =>
    verifyAll(inputs, withRoots, io, { progress, onVerified }),
  );
  if (files.length === 0) throw cliErrors('nothing-to-sign');
  if (options.printPolicy) return await (await import('./print-policy.ts')).printPolicy(files.flat(), options, io);
  const missing = classifier.missing();
  const lines = new Lines(io, options);
  for (const warning of classifier.warnings()) lines.warning(warning);
  if (options.why !== undefined) explain(options.why, files.flat(), policy, io);
  else print({ files, policy, minimum: missing, roots }, options, io);
  const summaryFailure = annotateFailures(files.flat(), options, io);
  if (summaryFailure !== undefined) lines.warning(summaryFailure);
  return combineExitCodes([...files.flat().flatMap(exitCodeOf), ...missing.map(() => EXIT_NOT_VERIFIED)]);
}

/** Returns a description of where the trusted roots come from. */
async function verifyAll(
  inputs: readonly InputPath[],
  settings: Resolved<'verify'>,
  io: Io,
  { progress, onVerified }: { readonly progress: Progress; readonly onVerified: OnVerified },
): Promise<string | undefined> {
  await using composition = await composeVerifying(settings, io.env, (path, bytes, size) =>
    progress.event({ type: 'bytes-read', path, bytes, size }),
  );
  progress.event({ type: 'files-planned', paths: inputs.map(({ path }) => path) });
  for (const input of inputs) {
    const { path } = input;
    progress.event({ type: 'file-started', path });
    onVerified(input, await composition.verifyInside(path));
    progress.event({ type: 'file-finished', path, word: 'verified' });
  }
  return composition.rootsFrom;
}

type OnVerified = (input: InputPath, found: readonly ContainedVerdict[]) => void;

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
