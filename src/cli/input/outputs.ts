/** Where each signed file goes: in place, to the one file named, or below the folder named. */

import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { FileToSign } from '../../signing/outcome.ts';
import { cliErrors } from '../errors.ts';
import type { InputPath } from './inputs.ts';

/** Says where; folders that are not there yet are made when a file is written. */
export async function resolveOutputs(inputs: readonly InputPath[], output: string | undefined): Promise<FileToSign[]> {
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
  return files;
}
