/** The pre-flight of a whole run: everything that can be known of each file before the first request is sent. */

import { extname } from 'node:path';
import pLimit from 'p-limit';
import { type CodesignError, toCodesignError } from '../errors/codesign-error.ts';
import { fromFileSystem } from '../files/file-system-errors.ts';
import { type FileStats, identityAt, identityOf } from '../files/input-file.ts';
import type { Format, SignableFile } from '../formats/format.ts';
import { contentReader, recogniseFormat } from '../formats/recognise.ts';
import type { Batch } from './batch.ts';
import type { Change, Planned, PlannedFile, Run } from './change.ts';
import { signingErrors } from './errors.ts';
import { openSettled } from './files/open-file.ts';
import { findSamePaths } from './files/same-path.ts';
import { assertReplaceable, resolveTarget } from './files/target.ts';
import { versionAt } from './files/unchanged.ts';
import type { FileToSign } from './outcome.ts';

/** In the order given, without what was merely found in a folder and is of no format. */
export async function planFiles<Intent>(
  files: readonly FileToSign[],
  run: Run<never>,
  change: Change<Intent, unknown>,
  batch: Batch,
): Promise<Planned<Intent>[]> {
  const limit = pLimit(run.concurrency);
  // So few that all of them are under way concurrently anyway.
  const keepLayout = files.length <= run.concurrency;

  async function plan(file: FileToSign): Promise<Planned<Intent>> {
    let format: string | null = null;
    const onFormat = ({ id }: Format): void => {
      format = id;
    };
    try {
      batch.assertGoing();
      return { file, plan: await planFile(file, run, change, onFormat, keepLayout) };
    } catch (thrown) {
      return { file, format, error: toCodesignError(fromFileSystem(thrown, 'read the file')) };
    }
  }

  const planned = await Promise.all(files.map((file) => limit(() => plan(file))));
  for (const one of planned) if (!isMeant(one)) reportLeftOut(one, run);
  return rejectConflicts(planned.filter(isMeant));
}

/**
 * Opens and recognises the file, and decides what is to be done. Throws what makes it unfit. Nothing stays open. `onFormat`:
 * called also for a file that then proves unfit. `keepLayout`: keeps what was read of the file until it is changed.
 */
async function planFile<Intent>(
  file: FileToSign,
  run: Run<never>,
  { decide }: Change<Intent, unknown>,
  onFormat: (format: Format) => void,
  keepLayout: boolean,
): Promise<PlannedFile<Intent>> {
  await using input = await openSettled(file.path, run.onEvent);
  const format = await recogniseFormat(input.source, [file.output, file.path], run);
  onFormat(format);
  const opened = await format.open(input.source, contentReader(run.digestEntries), file.output);
  const { skipped, warnings, intent } = await decide(opened, file, format);
  const target = await resolveTarget(file.output);
  if (skipped === undefined) await assertReplaceable(target);
  return {
    ...file,
    output: skipped === undefined ? file.output : file.path,
    format,
    stats: input.stats,
    target,
    targetVersion: versionAt(target),
    skipped,
    warnings: skipped === undefined ? [...warnings, ...hardLinkWarnings(file, input.stats)] : warnings,
    intent,
    open: openAgain(format, file.output, keepLayout ? opened : undefined),
  };
}

/**
 * `opened`: what was read already. It is let go when it has been used once: by the time the result is checked, it would only
 * be in the way.
 */
function openAgain(format: Format, name: string, opened: SignableFile | undefined): PlannedFile['open'] {
  let kept = opened;
  return async (source, reader) => {
    const file = kept?.reopen(source, reader) ?? (await format.open(source, reader, name));
    kept = undefined;
    return file;
  };
}

function hardLinkWarnings({ path, output }: FileToSign, { nlink }: FileStats): string[] {
  if (path !== output || nlink <= 1n) return [];
  return [
    `The file has ${nlink} names (hard links): only this one will lead to the new file, the others keep the old content.`,
  ];
}

/** Who names a folder means the files in it that are of a format. */
function isMeant(planned: Planned): boolean {
  const foundInFolder = planned.file.pathInFolder !== undefined;
  return !(foundInFolder && 'error' in planned && planned.error.code === 'unsupported-format');
}

/** An empty app.jar, for example: no one means to leave that out. */
function reportLeftOut(planned: Planned, { formats, onEvent }: Pick<Run<never>, 'formats' | 'onEvent'>): void {
  const { path } = planned.file;
  const isNamedAsFormat = formats.some(({ extensions }) => extensions.includes(extname(path).toLowerCase()));
  if (isNamedAsFormat && 'error' in planned) onEvent({ type: 'file-left-out', path, error: planned.error });
}

function rejectConflicts<Intent>(planned: readonly Planned<Intent>[]): Planned<Intent>[] {
  const conflicts = findConflicts(planned.flatMap((one) => ('plan' in one ? [one.plan] : [])));
  return planned.map((one) => {
    const error = 'plan' in one ? conflicts.get(one.plan) : undefined;
    if (error === undefined || !('plan' in one)) return one;
    return { file: one.file, format: one.plan.format.id, error };
  });
}

/**
 * Results that would go to the same path as another one, or over another input: what would be left is chance, or the loss of
 * a file. Each has its `output-conflict`.
 */
function findConflicts(plans: readonly PlannedFile[]): ReadonlyMap<PlannedFile, CodesignError> {
  const written = plans.filter(({ skipped }) => skipped === undefined);
  const results = new Map<string, number>();
  for (const { target } of written) results.set(target, (results.get(target) ?? 0) + 1);
  const alike = findSamePaths(results.keys());
  const inputs = new Map(plans.map((plan) => [identityOf(plan.stats), plan]));
  const conflicts = new Map<PlannedFile, CodesignError>();
  for (const plan of written) {
    const there = identityAt(plan.target);
    const owner = there && inputs.get(there);
    const isAlone = results.get(plan.target) === 1 && !alike.has(plan.target);
    if (isAlone && (owner === undefined || owner === plan)) continue;
    conflicts.set(plan, signingErrors('output-conflict', { target: plan.output }));
  }
  return conflicts;
}
