/** The command line's door: arguments in, exit code out. The only place that catches everything. */

import { VERSION } from '../app/version.ts';
import { type CodesignError, toCodesignError } from '../errors/codesign-error.ts';
import { EXIT_SUCCESS, exitCodeFor } from '../errors/exit-codes.ts';
import { type Io, processIo } from './io.ts';

/** Runs the command line; never throws. `argv` is without node and script. */
export async function main(argv: readonly string[], io: Io = processIo()): Promise<number> {
  try {
    // The one answer that needs nothing else, and that build scripts ask for most.
    if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
      io.stdout.write(`${VERSION}\n`);
      return EXIT_SUCCESS;
    }
    const { runProgram } = await import('./program.ts');
    const exitCode = await runProgram(argv, io);
    return exitCode === EXIT_SUCCESS ? await judgeOutput(io) : exitCode;
  } catch (thrown) {
    return fail(toCodesignError(thrown), argv, io);
  }
}

/** What was asked for is done only when the result has been told: a script that reads an empty document must know. */
async function judgeOutput(io: Io): Promise<number> {
  await new Promise((resolve) => io.stdout.write('', resolve));
  const fault = io.outputFault();
  if (fault === undefined) return EXIT_SUCCESS;
  const [{ cliErrors }, { systemReason }] = await Promise.all([
    import('./errors.ts'),
    import('../errors/system-reason.ts'),
  ]);
  throw cliErrors('output-lost', { reason: systemReason(fault) }, { cause: fault });
}

/** What fails before there are any files: one message, or with --json one document. */
async function fail(error: CodesignError, argv: readonly string[], io: Io): Promise<number> {
  const [{ Console }, { errorJson, jsonText }] = await Promise.all([import('./console.ts'), import('./json.ts')]);
  if (argv.includes('--json')) io.stdout.write(jsonText({ error: errorJson(error) }));
  const verbose = argv.includes('--verbose') || argv.includes('-v');
  new Console(io, { quiet: false, verbose, json: argv.includes('--json') }).error(error);
  return exitCodeFor([error.category]);
}
