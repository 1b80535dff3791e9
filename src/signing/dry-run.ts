/** Lists what `sign` would send for each file. Writes no file and sends no request. */

import { inFileSystem } from '../files/file-system-errors.ts';
import { signingOf } from '../format/format.ts';
import type { SigningUnit } from '../format/signable-file.ts';
import { contentReader } from '../formats/recognise.ts';
import { containedFiles, prepareContained } from './files/contained.ts';
import { openPlanned } from './files/open-file.ts';
import type { PlannedOutcome, PlannedPart } from './outcome.ts';
import type { PlannedFile } from './planned-file.ts';
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
): Promise<Pick<PlannedOutcome, 'algorithm' | 'digest' | 'units' | 'inner'>> {
  await using input = await openPlanned(plan, run);
  const opened = await plan.format.open(input.source, contentReader(run.digestEntries), plan.output);
  const file = signingOf(opened, plan.format);
  const { mode, context } = modeAndContext(file, plan.format, { ...given, time: plan.time }, policy);
  const { algorithm } = context;
  const { toSign } = await containedFiles(opened, context, plan.format, run);
  if (toSign.length === 0) {
    const { units } = await file.prepare(context, mode);
    const parts = units.map((unit) => partOf(unit.name, unit));
    return { algorithm, digest: inBase64(units[0]), ...(parts.length > 1 && { units: parts }) };
  }
  const inner: PlannedPart[] = [];
  for (const one of toSign) {
    const { units } = await prepareContained(one, context, plan.format, run);
    for (const unit of units) inner.push(partOf(one.name, unit));
  }
  return { algorithm, digest: null, inner };
}

function partOf(name: string, unit: SigningUnit): PlannedPart {
  return { name, algorithm: unit.algorithm, digest: inBase64(unit) };
}

function inBase64({ digest }: SigningUnit): string {
  return Buffer.from(digest).toString('base64');
}
