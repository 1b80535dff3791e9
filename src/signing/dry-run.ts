/** Lists what `sign` would send for each file, without writing a file or sending a request. */

import { inFileSystem } from '../files/file-system-errors.ts';
import { signingOf } from '../format/format.ts';
import type { Prepared } from '../format/signable-file.ts';
import { contentReader } from '../formats/recognise.ts';
import { openPlanned } from './files/open-file.ts';
import type { InnerPlanned, PlannedOutcome } from './outcome.ts';
import type { PlannedFile } from './planned-file.ts';
import { prepareInner } from './prepare-signature.ts';
import type { StartedRun } from './run.ts';
import { modeAndContext } from './signing-policy.ts';
import type { Signing } from './signing-run.ts';

export async function previewFile(plan: PlannedFile, signing: Signing, run: StartedRun): Promise<PlannedOutcome> {
  const { path, output, format, warnings, replaced, stats } = plan;
  const prepared = await inFileSystem('read the file', () => prepareOnly(plan, signing, run));
  return {
    path,
    output,
    format: format.id,
    warnings,
    status: 'planned',
    ...prepared,
    replaced,
    bytes: Number(stats.size),
  };
}

async function prepareOnly(
  plan: PlannedFile,
  { context: given, policy }: Signing,
  run: StartedRun,
): Promise<Pick<PlannedOutcome, 'algorithm' | 'digest' | 'inner'>> {
  await using input = await openPlanned(plan, run);
  const opened = await plan.format.open(input.source, contentReader(run.digestEntries), plan.output);
  const file = signingOf(opened, plan.format);
  const { mode, context } = modeAndContext(file, plan.format, { ...given, time: plan.time }, policy);
  const { algorithm } = context;
  const { files } = (await file.inner?.(context)) ?? { files: [] };
  if (files.length === 0) return { algorithm, digest: inBase64(await file.prepare(context, mode)) };
  const inner: InnerPlanned[] = [];
  for (const one of files) {
    const { prepared, algorithm: its } = await prepareInner(one, context, run);
    inner.push({ name: one.name, algorithm: its, digest: inBase64(prepared) });
  }
  return { algorithm, digest: null, inner };
}

function inBase64({ units: [{ digest }] }: Prepared): string {
  return Buffer.from(digest).toString('base64');
}
