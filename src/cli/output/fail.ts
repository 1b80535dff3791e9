import { type CodesignError, toCodesignError } from '../../errors/codesign-error.ts';
import { exitCodeFor } from '../../errors/exit-codes.ts';
import { systemReason } from '../../errors/system-reason.ts';
import { cliErrors } from '../errors.ts';
import type { Io } from '../io.ts';
import { errorJson, jsonText } from './json.ts';
import { Lines, type LinesOptions } from './lines.ts';

/** Searches the arguments without parsing them, because they may have caused the failure. */
export function fail(thrown: unknown, argv: readonly string[], io: Io): number {
  const error = toCodesignError(thrown);
  const json = argv.includes('--json');
  if (json) io.stdout.write(jsonText({ error: errorJson(error) }));
  const verbose = argv.includes('--verbose') || argv.includes('-v');
  new Lines(io, { verbose, json }).error(error);
  return exitCodeFor([error.category]);
}

export function failOne(path: string, thrown: unknown, options: LinesOptions, io: Io): number {
  const error = toCodesignError(thrown);
  if (options.json) io.stdout.write(jsonText({ error: errorJson(error) }));
  const lines = new Lines(io, { ...options, quiet: false });
  if (error.category === 'usage') lines.error(error);
  else lines.failed(path, error);
  return exitCodeFor([error.category]);
}

export function outputLost(fault: Error): CodesignError {
  return cliErrors('output-lost', { reason: systemReason(fault) }, { cause: fault });
}
