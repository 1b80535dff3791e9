import { inFileSystem } from '../files/file-system-errors.ts';
import { signingOf } from '../format/format.ts';
import type { SignableFile, SigningContext, SigningUnit } from '../format/signable-file.ts';
import { contentReader } from '../formats/recognise.ts';
import { contextFor, openInner } from './files/contained.ts';
import { type InnerFile, innerName, NOTHING_INSIDE, outcomesInside } from './files/inner-files.ts';
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
  { context: run, policy }: Signing,
  started: StartedRun,
): Promise<Pick<PlannedOutcome, 'algorithm' | 'digest' | 'units' | 'inner' | 'inside'>> {
  const { format, contained = NOTHING_INSIDE } = plan;
  await using input = await openPlanned(plan, started);
  const opened = await format.open(input.source, contentReader(started.digestEntries), plan.output);
  const given = { ...run, time: plan.time };
  const inner = await partsInside(opened, contained.toChange, given, started);
  const inside = policy.inside ? { inside: outcomesInside(plan, inner) } : inner.length > 0 && { inner };
  if (plan.isContainerOnly) return { algorithm: given.algorithm, digest: null, units: [], ...inside };
  const file = signingOf(opened, format);
  const { mode, context } = modeAndContext(file, format, given, policy);
  const { algorithm } = context;
  if (inner.length > 0) return { algorithm, digest: null, ...inside };
  const { units } = await file.prepare(context, mode);
  const parts = units.map((unit) => partOf(unit.name, unit));
  return { algorithm, digest: inBase64(units[0]), ...(parts.length > 1 && { units: parts }), ...inside };
}

/** Innermost files come first, because they are signed first. */
async function partsInside(
  { contents }: SignableFile,
  files: readonly InnerFile[],
  context: SigningContext,
  run: StartedRun,
): Promise<readonly PlannedPart[]> {
  if (files.length === 0) return [];
  const byName = new Map(files.map((file) => [file.names.at(-1), file]));
  const parts: PlannedPart[] = [];
  for await (const { name, open } of contents?.changing?.entries() ?? []) {
    const file = byName.get(name);
    if (file === undefined) continue;
    const opened = await openInner(await open(), file, run);
    for (const part of await partsInside(opened, file.inside, context, run)) parts.push(part);
    if (!file.isToSign) continue;
    const signing = signingOf(opened, file.format);
    const own = contextFor(signing, context);
    const [mode = 'replace'] = file.format.signing?.modes ?? [];
    if (file.inside.length > 0) parts.push({ name: innerName(file), algorithm: own.algorithm, digest: null });
    else for (const unit of (await signing.prepare(own, mode)).units) parts.push(partOf(innerName(file), unit));
  }
  return parts;
}

function partOf(name: string, unit: SigningUnit): PlannedPart {
  return { name, algorithm: unit.algorithm, digest: inBase64(unit) };
}

function inBase64({ digest }: SigningUnit): string {
  return Buffer.from(digest).toString('base64');
}
