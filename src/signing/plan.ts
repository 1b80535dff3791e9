/** The pre-flight of one file: everything that can be known before a request is sent. */

import { type FileStats, openInput } from '../files/input-file.ts';
import { contentReader } from '../formats/content-reader.ts';
import type { Format, SignableFile } from '../formats/format.ts';
import { recogniseFormat } from '../formats/recognise.ts';
import type { Change, PlannedFile, Run } from './change.ts';
import { onBytesRead } from './files/open-file.ts';
import { assertReplaceable, resolveTarget } from './files/target.ts';
import type { FileToSign } from './outcome.ts';

export interface PlanOptions {
  /** Called as soon as the format is known, of a file that then proves unfit too. */
  onFormat(format: Format): void;
  /** Whether what was read of the file is kept until it is changed: memory for time. */
  readonly keepLayout: boolean;
}

/** Opens and recognises the file, and decides what is to be done. Throws what makes it unfit. Nothing stays open. */
export async function planFile<Intent>(
  file: FileToSign,
  run: Run<never>,
  { decide }: Pick<Change<Intent, unknown>, 'decide'>,
  { onFormat, keepLayout }: PlanOptions,
): Promise<PlannedFile<Intent>> {
  await using input = await openInput(file.path, onBytesRead(file.path, run.onEvent));
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
