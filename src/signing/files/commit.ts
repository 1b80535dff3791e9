import { retryWhileBusy } from '../../files/file-system-errors.ts';
import { signingOf } from '../../format/format.ts';
import type { Expected, SignableFile } from '../../format/signable-file.ts';
import type { WrittenOutcome } from '../outcome.ts';
import type { PlannedFile } from '../planned-file.ts';
import type { StartedRun } from '../run.ts';
import { verifyContents } from './contained.ts';
import type { OpenFile } from './open-file.ts';
import { assertUnchanged } from './unchanged.ts';

export async function verifyCopy(
  plan: PlannedFile,
  file: OpenFile,
  expected: Expected | undefined,
  inner: ReadonlyMap<string, Expected>,
  run: Pick<StartedRun, 'digestEntries'>,
): Promise<void> {
  const result = await reopenCopy(plan, file);
  if (expected !== undefined) await signingOf(result, plan.format).verify(expected);
  await verifyContents(result, plan.contained?.toChange ?? [], inner, run);
}

export function openOriginal({ format, output }: PlannedFile, { input, copy }: OpenFile): Promise<SignableFile> {
  return format.open(input.source, copy.reader, output);
}

export async function reopenCopy(plan: PlannedFile, { copy }: OpenFile): Promise<SignableFile> {
  await copy.flush();
  const { source, reader } = await copy.reopen();
  return await plan.format.open(source, reader, plan.output);
}

export interface Written {
  readonly bytes: number;
  readonly sha256: string | undefined;
  readonly milliseconds: number;
  readonly warnings: readonly string[];
}

/**
 * The original file stays unchanged until the copy is renamed. `checking` rejects if the content of the copy is wrong.
 */
export async function commit(
  plan: PlannedFile,
  { input, copy, started }: OpenFile,
  checking: Promise<void>,
  { clock, fileDigests }: Pick<StartedRun, 'clock' | 'fileDigests'>,
): Promise<Written> {
  try {
    await checking;
  } catch (thrown) {
    // If the original has changed, the error must report that change.
    await retryWhileBusy('look at the file again', async () => assertUnchanged(plan));
    throw thrown;
  }
  // Windows cannot replace a file while it is open.
  await input.close();
  const sha256 = fileDigests ? await copy.sha256() : undefined;
  const isNew = plan.targetVersion === undefined;
  const warnings = await copy.replaceTarget({ isNew, assertUnchanged: () => assertUnchanged(plan) });
  return { bytes: copy.size(), sha256, warnings, milliseconds: Math.round(clock() - started) };
}

export function writtenOutcome(
  { path, output, format, warnings }: PlannedFile,
  written: Written,
  callWarnings: readonly string[] = [],
): WrittenOutcome {
  return {
    path,
    output,
    format: format.id,
    ...written,
    warnings: [...warnings, ...callWarnings, ...written.warnings],
  };
}
