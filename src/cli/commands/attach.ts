/** `codesign-remote attach`: puts a finished signature into the file that it was made for. */

import type { Readable } from 'node:stream';
import { composeAttaching } from '../../app/compose-changes.ts';
import { openToRead } from '../../bytes/read-file.ts';
import { readOutput } from '../../options/commands/common.ts';
import type { OptionsOf } from '../../options/table.ts';
import type { Io } from '../io.ts';
import { runChanges } from './run-changes.ts';

/** Returns the exit code. Throws errors of usage and of reading the signature. */
export async function attach(path: string, signature: string, options: OptionsOf<'attach'>, io: Io): Promise<number> {
  const isStdin = signature === '-';
  const name = isStdin ? 'standard input' : signature;
  const open = async (): Promise<Readable> => (isStdin ? io.stdin : (await openToRead(signature)).createReadStream());
  return runChanges(
    {
      verb: 'attached',
      inputs: [{ path, pathInFolder: undefined }],
      output: readOutput(options.output),
      compose: (onEvent) => composeAttaching(open, name, onEvent),
    },
    options,
    io,
  );
}
