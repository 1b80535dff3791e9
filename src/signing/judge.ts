/** The pre-flight of a whole run: every file judged before the first request. */

import { stat } from 'node:fs/promises';
import { extname } from 'node:path';
import pLimit from 'p-limit';
import { type CodesignError, toCodesignError } from '../errors/codesign-error.ts';
import { fromFileSystem } from '../files/file-system-errors.ts';
import type { Format } from '../formats/format.ts';
import type { Batch } from './batch.ts';
import { signingErrors } from './errors.ts';
import type { FileToSign } from './outcome.ts';
import { type PlannedFile, planFile } from './plan.ts';
import { identityOf } from './same-file.ts';
import type { Signing } from './signing.ts';

interface Fit {
  readonly file: FileToSign;
  readonly plan: PlannedFile;
}

interface Unfit {
  readonly file: FileToSign;
  /** Id of the format, when it was recognised. */
  readonly format: string | null;
  readonly error: CodesignError;
}

/** A file on its way: fit and planned, or unfit and why. */
export type Judgement = Fit | Unfit;

/**
 * In the order given, without what was merely found in a folder and is of no format. With --all-or-nothing one unfit
 * file stops the batch.
 */
export async function judgeFiles(files: readonly FileToSign[], signing: Signing, batch: Batch): Promise<Judgement[]> {
  const limit = pLimit(signing.concurrency);
  // So few that all of them are under way at once anyway.
  const keepLayout = files.length <= signing.concurrency;
  const judged = await Promise.all(files.map((file) => limit(() => judge(file, signing, batch, keepLayout))));
  for (const judgement of judged) if (!isMeant(judgement)) tellOfLeftOut(judgement, signing);
  const judgements = await refuseSharedPlaces(judged.filter(isMeant));
  if (signing.allOrNothing && judgements.some((judgement) => 'error' in judgement)) {
    batch.stop('another file of this run cannot be signed, and --all-or-nothing was asked for');
  }
  return judgements;
}

async function judge(file: FileToSign, signing: Signing, batch: Batch, keepLayout: boolean): Promise<Judgement> {
  let format: string | null = null;
  try {
    batch.assertGoing();
    const onFormat = ({ id }: Format): void => {
      format = id;
    };
    const plan = await planFile(file, signing, { onFormat, keepLayout });
    return { file, plan };
  } catch (thrown) {
    return { file, format, error: toCodesignError(fromFileSystem(thrown, 'read the file')) };
  }
}

/** Whoever names a folder means the files in it that can be signed. */
function isMeant(judgement: Judgement): boolean {
  const foundInFolder = judgement.file.placeInFolder !== undefined;
  return !(foundInFolder && 'error' in judgement && judgement.error.code === 'unsupported-format');
}

/** An empty app.jar, say: nobody means to leave that out. */
function tellOfLeftOut(judgement: Judgement, { formats, onEvent }: Signing): void {
  const { path } = judgement.file;
  const isNamedAsFormat = formats.some(({ extensions }) => extensions.includes(extname(path).toLowerCase()));
  if (isNamedAsFormat && 'error' in judgement) onEvent({ type: 'file-left-out', path, error: judgement.error });
}

/** No result may go where another one goes, or where another input is: what would be left is chance, or the loss of a file. */
async function refuseSharedPlaces(judgements: readonly Judgement[]): Promise<Judgement[]> {
  const writing = judgements.filter(
    (judgement): judgement is Fit => 'plan' in judgement && !judgement.plan.alreadySigned,
  );
  const results = new Map<string, number>();
  for (const { plan } of writing) results.set(placeOf(plan.target), (results.get(placeOf(plan.target)) ?? 0) + 1);
  const inputs = new Map(
    judgements.flatMap((judgement) =>
      'plan' in judgement ? [[identityOf(judgement.plan.stats), judgement] as const] : [],
    ),
  );
  return Promise.all(
    judgements.map(async (judgement) => {
      if (!('plan' in judgement) || judgement.plan.alreadySigned) return judgement;
      const { file, plan } = judgement;
      const there = await stat(plan.target, { bigint: true }).catch(() => undefined);
      const owner = there && inputs.get(identityOf(there));
      if (results.get(placeOf(plan.target)) === 1 && (owner === undefined || owner === judgement)) return judgement;
      return { file, format: plan.format.id, error: signingErrors('output-conflict', { target: file.output }) };
    }),
  );
}

/** Where file systems do not tell upper from lower case, two such names are one place. */
function placeOf(target: string): string {
  return process.platform === 'win32' || process.platform === 'darwin' ? target.toLowerCase() : target;
}
