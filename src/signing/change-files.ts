import type { SignableFile } from '../formats/format.ts';
import type { Batch } from './batch.ts';
import type { Change, PlannedFile, PreparedChange, Run } from './change.ts';
import { commit } from './files/commit.ts';
import { openFile } from './files/open-file.ts';
import type { ChangedOutcome, ChangeFilesResult, FileToSign, SkipReason } from './outcome.ts';
import { runFiles, safeListener } from './run-files.ts';

export interface LocalChange {
  /** Why there is nothing to do. Throws what makes the change impossible and can be known without digesting the content. */
  decide(opened: SignableFile, file: FileToSign): Promise<SkipReason | undefined>;
  /** Requests everything that the change needs; the file is not touched. */
  prepare(opened: SignableFile, batch: Batch): Promise<PreparedLocalChange>;
}

export interface PreparedLocalChange extends PreparedChange {
  /** What was done, once the file is in place. */
  readonly done: Done;
}

type Omitted = 'path' | 'format' | 'warnings' | 'output' | 'bytes' | 'milliseconds';
type WithoutFile<Outcome> = Outcome extends unknown ? Omit<Outcome, Omitted> : never;
export type Done = WithoutFile<ChangedOutcome>;

/**
 * Each file has its outcome, in the order given; what one file does is never thrown. When `signal` aborts, nothing new starts
 * and files under way are finished.
 */
export async function changeFiles(
  files: readonly FileToSign[],
  change: LocalChange,
  given: Run<ChangedOutcome>,
  signal?: AbortSignal,
): Promise<ChangeFilesResult> {
  const { onEvent, warnings } = safeListener(given.onEvent);
  const run = { ...given, onEvent };
  return { files: await runFiles(files, run, () => changeOf(change, run), signal), warnings };
}

function changeOf(change: LocalChange, run: Run<ChangedOutcome>): Change<undefined, ChangedOutcome> {
  return {
    async decide(opened, file) {
      // The format's warnings are about signing.
      return { skipped: await change.decide(opened, file), warnings: [], intent: undefined };
    },
    async perform(plan, batch) {
      const started = run.clock();
      const { path, output, format, warnings } = plan;
      const { done, committed } = await changeFile(plan, change, run, batch);
      return {
        outcome: {
          path,
          output,
          format: format.id,
          ...done,
          warnings: [...warnings, ...committed.warnings],
          bytes: committed.bytes,
          milliseconds: Math.round(run.clock() - started),
        },
      };
    },
  };
}

/** The original stays untouched until the rename. */
async function changeFile(plan: PlannedFile, change: LocalChange, run: Run<never>, batch: Batch) {
  await using file = await openFile(plan, run);
  const { input, copy } = file;
  const prepare = async () => change.prepare(await plan.open(input.source, copy.reader), batch);
  const { patch, check, done } = await prepare();
  await copy.apply(patch);
  await copy.takeOwnerAndMode();
  return { done, committed: await commit({ plan, input, copy, check }) };
}
