/** What fails for the run as a whole, before there are any files or after all of them: one message, or with --json one document. */

import { type CodesignError, toCodesignError } from '../../errors/codesign-error.ts';
import { exitCodeFor } from '../../errors/exit-codes.ts';
import { systemReason } from '../../errors/system-reason.ts';
import { cliErrors } from '../errors.ts';
import type { Io } from '../io.ts';
import { errorJson, jsonText } from './json.ts';
import { Lines } from './lines.ts';

/** Tells the failure and gives its exit code. The arguments may be the very thing that is wrong, so they are only looked at. */
export function fail(thrown: unknown, argv: readonly string[], io: Io): number {
  const error = toCodesignError(thrown);
  const json = argv.includes('--json');
  if (json) io.stdout.write(jsonText({ error: errorJson(error) }));
  const verbose = argv.includes('--verbose') || argv.includes('-v');
  new Lines(io, { quiet: false, verbose, json }).error(error);
  return exitCodeFor([error.category]);
}

/** The same of a command about one file, which it names. What was wrong with the command itself names no file. */
export function failOne(
  path: string,
  thrown: unknown,
  { json = false, verbose = false }: { readonly json?: boolean | undefined; readonly verbose?: boolean | undefined },
  io: Io,
): number {
  const error = toCodesignError(thrown);
  if (json) io.stdout.write(jsonText({ error: errorJson(error) }));
  const lines = new Lines(io, { quiet: false, verbose, json });
  if (error.category === 'usage') lines.error(error);
  else lines.failed(path, error);
  return exitCodeFor([error.category]);
}

/** The files are done, and standard output took no word of it. */
export function outputLost(fault: Error): CodesignError {
  return cliErrors('output-lost', { reason: systemReason(fault) }, { cause: fault });
}
