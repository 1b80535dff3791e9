import { basename, extname } from 'node:path';
import pLimit from 'p-limit';
import type { ByteSource } from '../bytes/byte-source.ts';
import { localDisks } from '../bytes/file-source.ts';
import { type CodesignError, toCodesignError } from '../errors/codesign-error.ts';
import { fromFileSystem } from '../files/file-system-errors.ts';
import { type FileStats, type InputFile, identityAt, identityOf, versionOf } from '../files/input-file.ts';
import type { Format } from '../format/format.ts';
import type { SignableFile } from '../format/signable-file.ts';
import { contentReader, recogniseFormat } from '../formats/recognise.ts';
import { signingErrors, signingWarnings } from './errors.ts';
import { openSettled } from './files/open-file.ts';
import { findSamePaths } from './files/same-path.ts';
import { assertReplaceable, resolveTarget, targetFolders } from './files/target.ts';
import type { FileToSign } from './outcome.ts';
import type { Intent, Planned, PlannedFile, RecognisedFile } from './planned-file.ts';
import type { StartedRun } from './run.ts';

/** Runs all checks that need no digest of the content. Throws if the file cannot be changed. */
type Decide = (opened: SignableFile, file: RecognisedFile, source: ByteSource) => Promise<Intent>;

export async function planFiles(files: readonly FileToSign[], run: StartedRun, decide: Decide): Promise<Planned[]> {
  const limit = pLimit(run.concurrency);
  const lookups = startLookups();
  const planned = await Promise.all(files.map((file) => limit(() => planFile(file, run, decide, lookups))));
  for (const one of planned) if (!wasNamedByUser(one)) reportLeftOut(one, run);
  const meant = planned.filter(wasNamedByUser);
  run.onEvent({ type: 'files-planned', paths: meant.map(({ file }) => file.path) });
  return rejectConflicts(meant);
}

/** Lookups that the files of a run reuse. */
function startLookups() {
  return { folders: targetFolders(), isOnLocalDisk: localDisks(), keep: keepSmallFiles() };
}

async function planFile(
  file: FileToSign,
  run: StartedRun,
  decide: Decide,
  { folders, isOnLocalDisk, keep }: ReturnType<typeof startLookups>,
): Promise<Planned> {
  let format: Format | undefined;
  try {
    run.stop.throwIfStopped();
    await using input = await openSettled(file.path, { ...run, isOnLocalDisk });
    const { stats } = input;
    format = await recogniseFormat(input.source, [file.output, file.path], run);
    const recognised: RecognisedFile = { ...file, format, stats, time: run.now() };
    const opened = await format.open(input.source, contentReader(run.digestEntries), file.output);
    const intent = await decide(opened, recognised, input.source);
    const isInPlace = file.path === file.output && !input.isLink;
    const target = await resolveTarget(file.output, folders, isInPlace);
    const planned = { ...recognised, ...intent, unusedOptions: opened.signing?.unusedOptions ?? [], target };
    const replaced =
      intent.skipped === undefined
        ? await assertReplaceable(target, nameOf(target, file), folders, isInPlace ? stats : undefined)
        : undefined;
    const plan: PlannedFile = {
      ...planned,
      targetVersion: replaced?.stats && versionOf(replaced.stats),
      folderIdentity: replaced?.folderIdentity,
      isLocal: input.isLocal && replaced?.isLocal === true,
      takeKept: replaced === undefined ? () => undefined : keep(input, opened),
    };
    if (replaced === undefined) return { file, plan: { ...plan, output: file.path } };
    return { file, plan: { ...plan, warnings: [...intent.warnings, ...hardLinkWarnings(file, stats)] } };
  } catch (thrown) {
    const error = toCodesignError(fromFileSystem(thrown, 'read the file'));
    return { file, format: format?.id ?? null, error };
  }
}

/** Limit in bytes on the files that stay in memory after planning. Other files are read again. */
const MOST_KEPT = 4 * 1024 * 1024;

/** The returned function keeps a file in memory if there is enough space. */
function keepSmallFiles() {
  let space = MOST_KEPT;
  return (input: InputFile, opened: SignableFile): PlannedFile['takeKept'] => {
    const { size } = input.source;
    if (!input.isInMemory || size > space) return () => undefined;
    space -= size;
    let kept: ReturnType<PlannedFile['takeKept']> = { input, opened };
    return () => {
      const taken = kept;
      if (taken !== undefined) space += size;
      kept = undefined;
      return taken;
    };
  };
}

/** The printed error starts with the file's path, so the name of the target is needed only if it is different. */
function nameOf(target: string, { path, output }: FileToSign): string {
  return path === output && basename(path) === basename(target) ? 'the file' : target;
}

function hardLinkWarnings({ path, output }: FileToSign, { nlink }: FileStats): string[] {
  if (path !== output || nlink <= 1n) return [];
  return [signingWarnings('hard-links', { count: Number(nlink) })];
}

/** For a folder argument, the user means only the files of a supported format. */
function wasNamedByUser(planned: Planned): boolean {
  const foundInFolder = planned.file.pathInFolder !== undefined;
  return !(foundInFolder && 'error' in planned && planned.error.code === 'unsupported-format');
}

/** A broken or empty file such as app.jar must not be skipped silently. */
function reportLeftOut(planned: Planned, { formats, onEvent }: Pick<StartedRun, 'formats' | 'onEvent'>): void {
  const { path } = planned.file;
  const isNamedAsFormat = formats.some(({ extensions }) => extensions.includes(extname(path).toLowerCase()));
  if (isNamedAsFormat && 'error' in planned) onEvent({ type: 'file-left-out', path, error: planned.error });
}

function rejectConflicts(planned: readonly Planned[]): Planned[] {
  const conflicts = findConflicts(planned.flatMap((one) => ('plan' in one ? [one.plan] : [])));
  return planned.map((one) => {
    const error = 'plan' in one ? conflicts.get(one.plan) : undefined;
    if (error === undefined || !('plan' in one)) return one;
    return { file: one.file, format: one.plan.format.id, error };
  });
}

/** Finds files whose result would overwrite another result or another file of the run. */
function findConflicts(plans: readonly PlannedFile[]): ReadonlyMap<PlannedFile, CodesignError> {
  const written = plans.filter(({ skipped }) => skipped === undefined);
  const results = new Map<string, number>();
  for (const { target } of written) results.set(target, (results.get(target) ?? 0) + 1);
  const alike = findSamePaths(results.keys());
  const inputs = new Map(plans.map((plan) => [identityOf(plan.stats), plan]));
  const conflicts = new Map<PlannedFile, CodesignError>();
  for (const plan of written) {
    const { stats, target, targetVersion } = plan;
    const isInPlace = targetVersion === versionOf(stats) && inputs.get(identityOf(stats)) === plan;
    const there = isInPlace ? undefined : identityAt(target);
    const owner = there === undefined ? undefined : inputs.get(there);
    const isAlone = results.get(plan.target) === 1 && !alike.has(plan.target);
    // If another process has replaced both files, one of them may have the inode number of the other.
    const isOwned = owner !== undefined && owner !== plan && identityAt(owner.path) === there;
    if (isAlone && !isOwned) continue;
    conflicts.set(plan, signingErrors('output-conflict', { target: plan.output }));
  }
  return conflicts;
}
