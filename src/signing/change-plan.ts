/** The pre-flight of one file that is to be changed. */

import { openInput } from '../files/input-file.ts';
import { contentReader } from '../formats/content-reader.ts';
import { recogniseFormat } from '../formats/recognise.ts';
import { tellBytesRead } from './bytes-read.ts';
import type { Changing } from './change.ts';
import type { SkipReason } from './change-outcome.ts';
import { assertReplaceable, resolveTarget } from './files/target.ts';
import type { FileToSign } from './outcome.ts';
import { hardLinkWarnings, type JudgedFile, openAgain, type PlanOptions } from './plan.ts';

export interface PlannedChange extends JudgedFile {
  /** Set when there is nothing to do: the file is left alone. */
  readonly skipped: SkipReason | undefined;
}

/** Opens, recognises and judges the file; throws what makes it unfit. Nothing stays open. */
export async function planChange(
  file: FileToSign,
  changing: Changing,
  { onFormat, keepLayout }: PlanOptions,
): Promise<PlannedChange> {
  await using input = await openInput(file.path, tellBytesRead(file.path, changing.onEvent));
  const format = await recogniseFormat(input.source, [file.output, file.path], changing);
  onFormat(format);
  const opened = await format.open(input.source, contentReader(changing.digestEntries), file.output);
  const skipped = await changing.change.judge(opened, file);
  const target = await resolveTarget(file.output);
  if (skipped === undefined) await assertReplaceable(target);
  return {
    ...file,
    output: skipped === undefined ? file.output : file.path,
    format,
    stats: input.stats,
    target,
    // Those of the format are about signing.
    warnings: skipped === undefined ? hardLinkWarnings(file, input.stats) : [],
    skipped,
    open: openAgain(format, file.output, keepLayout ? opened : undefined),
  };
}
