import { VERSION } from '../app/version.ts';
import { EXIT_SUCCESS } from '../errors/exit-codes.ts';
import { type Io, processIo } from './io.ts';

/** Never throws. `argv` omits `node` and the script. */
export async function main(argv: readonly string[]): Promise<number> {
  if (!isVersionOnly(argv)) await (await import('./prepare-process.ts')).prepareProcess(argv[0]);
  return await runMain(argv, processIo());
}

/** Used by tests, and by processes that also do other work. Never throws. */
export async function runMain(argv: readonly string[], io: Io): Promise<number> {
  try {
    const exitCode = isVersionOnly(argv) ? printVersion(io) : await (await import('./program.ts')).runProgram(argv, io);
    if (exitCode === 0) await assertWritten(io);
    return exitCode;
  } catch (thrown) {
    const { fail } = await import('./output/fail.ts');
    return fail(thrown, argv, io);
  }
}

/** Loads almost no code, because scripts often run `--version`. */
function isVersionOnly(argv: readonly string[]): boolean {
  return argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V');
}

function printVersion(io: Io): number {
  io.stdout.write(`${VERSION}\n`);
  return EXIT_SUCCESS;
}

/** A script that reads an empty JSON document must also see that the run failed. */
async function assertWritten(io: Io): Promise<void> {
  await new Promise((resolve) => io.stdout.write('', resolve));
  const fault = io.outputFault();
  if (fault === undefined) return;
  const { outputLost } = await import('./output/fail.ts');
  throw outputLost(fault);
}
