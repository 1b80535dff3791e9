/** The pre-flight of a whole run: every file judged before the first request. */

import { extname } from 'node:path';
import pLimit from 'p-limit';
import { type CodesignError, toCodesignError } from '../errors/codesign-error.ts';
import { fromFileSystem } from '../files/file-system-errors.ts';
import type { Format } from '../formats/format.ts';
import type { Batch } from './batch.ts';
import type { FileLeftOut, FileToSign } from './outcome.ts';
import type { JudgedFile, PlannedFile, PlanOptions } from './plan.ts';
import { findConflicts } from './service/shared-places.ts';

interface Fit<Plan> {
  readonly file: FileToSign;
  readonly plan: Plan;
}

interface Unfit {
  readonly file: FileToSign;
  /** Id of the format, when it was recognised. */
  readonly format: string | null;
  readonly error: CodesignError;
}

/** A file on its way: fit and planned, or unfit and why. */
export type Judgement<Plan = PlannedFile> = Fit<Plan> | Unfit;

/** What is to be read of the file, in bytes: nothing of one that is not going to be written. */
export function bytesToRead<Plan extends JudgedFile>(isWritten: Judging<Plan>['isWritten']) {
  return (judgement: Judgement<Plan>): number =>
    'plan' in judgement && isWritten(judgement.plan) ? Number(judgement.plan.stats.size) : 0;
}

export interface Judging<Plan extends JudgedFile> {
  readonly formats: readonly Format[];
  /** Files under way at once. */
  readonly concurrency: number;
  readonly onEvent: (event: FileLeftOut) => void;
  /** Throws what makes the file unfit. */
  plan(file: FileToSign, options: PlanOptions): Promise<Plan>;
  /** Whether the file will be written. */
  isWritten(plan: Plan): boolean;
}

/** In the order given, without what was merely found in a folder and is of no format. */
export async function judgeFiles<Plan extends JudgedFile>(
  files: readonly FileToSign[],
  judging: Judging<Plan>,
  batch: Batch,
): Promise<Judgement<Plan>[]> {
  const limit = pLimit(judging.concurrency);
  // So few that all of them are under way at once anyway.
  const keepLayout = files.length <= judging.concurrency;
  const judged = await Promise.all(files.map((file) => limit(() => judge(file, judging, batch, keepLayout))));
  for (const judgement of judged) if (!isMeant(judgement)) tellOfLeftOut(judgement, judging);
  return refuseSharedPlaces(judged.filter(isMeant), judging);
}

async function judge<Plan extends JudgedFile>(
  file: FileToSign,
  judging: Judging<Plan>,
  batch: Batch,
  keepLayout: boolean,
): Promise<Judgement<Plan>> {
  let format: string | null = null;
  try {
    batch.assertGoing();
    const onFormat = ({ id }: Format): void => {
      format = id;
    };
    const plan = await judging.plan(file, { onFormat, keepLayout });
    return { file, plan };
  } catch (thrown) {
    return { file, format, error: toCodesignError(fromFileSystem(thrown, 'read the file')) };
  }
}

/** Whoever names a folder means the files in it that are of a format. */
function isMeant(judgement: Judgement<unknown>): boolean {
  const foundInFolder = judgement.file.placeInFolder !== undefined;
  return !(foundInFolder && 'error' in judgement && judgement.error.code === 'unsupported-format');
}

/** An empty app.jar, say: nobody means to leave that out. */
function tellOfLeftOut(
  judgement: Judgement<unknown>,
  { formats, onEvent }: Pick<Judging<JudgedFile>, 'formats' | 'onEvent'>,
): void {
  const { path } = judgement.file;
  const isNamedAsFormat = formats.some(({ extensions }) => extensions.includes(extname(path).toLowerCase()));
  if (isNamedAsFormat && 'error' in judgement) onEvent({ type: 'file-left-out', path, error: judgement.error });
}

function refuseSharedPlaces<Plan extends JudgedFile>(
  judgements: readonly Judgement<Plan>[],
  { isWritten }: Judging<Plan>,
): Judgement<Plan>[] {
  const plans = judgements.flatMap((judgement) => ('plan' in judgement ? [judgement.plan] : []));
  const conflicts = findConflicts(plans, isWritten);
  return judgements.map((judgement) => {
    const error = 'plan' in judgement ? conflicts.get(judgement.plan) : undefined;
    if (error === undefined || !('plan' in judgement)) return judgement;
    return { file: judgement.file, format: judgement.plan.format.id, error };
  });
}
