/** Where each signed file goes: in place, to the one file named, or below the folder named. */

import { mkdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { inFileSystem } from '../signing/file-system-errors.ts';
import type { FileToSign } from '../signing/outcome.ts';
import { cliErrors } from './errors.ts';
import type { InputPath } from './inputs.ts';

/** Makes the folders of the results unless `dryRun`. */
export async function resolveOutputs(
  inputs: readonly InputPath[],
  output: string | undefined,
  dryRun: boolean,
): Promise<FileToSign[]> {
  if (output === undefined) return inputs.map((input) => ({ ...input, output: input.path }));
  const existing = await stat(output).catch(() => undefined);
  const [only, ...others] = inputs;
  const single = only !== undefined && others.length === 0 && only.placeInFolder === undefined;
  const toFolder = existing?.isDirectory() || /[/\\]$/.test(output) || !single;
  if (toFolder && existing?.isFile()) throw cliErrors('output-not-a-folder', { path: output, count: inputs.length });
  const files = inputs.map((input) => ({
    ...input,
    output: toFolder ? join(output, input.placeInFolder ?? basename(input.path)) : output,
  }));
  if (!dryRun) {
    for (const folder of new Set(files.map((file) => dirname(file.output)))) {
      await inFileSystem(`make the folder ${folder}`, () => mkdir(folder, { recursive: true }));
    }
  }
  return files;
}
