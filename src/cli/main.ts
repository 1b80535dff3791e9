/** Entry point of the command line, and the only code that catches every error. */

import { setFlagsFromString } from 'node:v8';
import { keepCompiledCode } from '../app/compile-cache.ts';
import { VERSION } from '../app/version.ts';
import { EXIT_SUCCESS } from '../errors/exit-codes.ts';
import { type Io, processIo } from './io.ts';

/**
 * V8 then optimizes later: most runs are over before optimized code pays. 300 programs of 12 KB take 11 % less processor time with
 * Node.js 20, 5 to 12 % with 22, 5 % with 24, 15 % with 26. By V8's version, because V8 prints an error for an unknown flag.
 */
const OPTIMIZE_LATER: Readonly<Record<string, readonly string[]>> = {
  '11.3': ['--interrupt-budget=1000000'],
  '12.4': ['--invocation-count-for-turbofan=30000'],
  '13.6': ['--invocation-count-for-turbofan=30000', '--invocation-count-for-maglev=4000'],
  '14.6': ['--invocation-count-for-turbofan=30000', '--invocation-count-for-maglev=4000'],
};

/** Runs as the process. Returns the exit code; never throws. `argv`: without node and script. */
export async function main(argv: readonly string[]): Promise<number> {
  // V8 then collects garbage earlier. With Node.js 20 an archive of 100,000 entries takes 206 MiB instead of 282 and a tenth
  // more time, a batch of 500 files 84 instead of 123 and a twentieth more.
  setFlagsFromString('--heap-growing-percent=100');
  setFlagsFromString('--semi-space-growth-factor=1');
  // V8 then does not optimize undici's WebAssembly: with Node.js 20 a small file takes 64 MiB instead of 99, and 50 ms less.
  setFlagsFromString('--liftoff-only');
  const [version = ''] = /^\d+\.\d+/.exec(process.versions.v8) ?? [];
  for (const flag of OPTIMIZE_LATER[version] ?? []) setFlagsFromString(flag);
  if (!isVersionOnly(argv)) await keepCompiledCode(process.env);
  return await runMain(argv, processIo());
}

/** Runs within a process that also does other work. Returns the exit code; never throws. */
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

/** Scripts ask for it often. The options and commands are not loaded for it. */
function isVersionOnly(argv: readonly string[]): boolean {
  return argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V');
}

function printVersion(io: Io): number {
  io.stdout.write(`${VERSION}\n`);
  return EXIT_SUCCESS;
}

/** A script that reads an empty document must see a failure. Throws `output-lost`. */
async function assertWritten(io: Io): Promise<void> {
  await new Promise((resolve) => io.stdout.write('', resolve));
  const fault = io.outputFault();
  if (fault === undefined) return;
  const { outputLost } = await import('./output/fail.ts');
  throw outputLost(fault);
}
