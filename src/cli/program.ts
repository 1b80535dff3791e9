/** The commands and their options, as commander knows them: `--help` is made from this. */

import { Command, CommanderError } from 'commander';
import { VERSION } from '../app/version.ts';
import { EXIT_SUCCESS } from '../errors/exit-codes.ts';
import { defineAttach } from './definitions/attach.ts';
import { defineExtract } from './definitions/extract.ts';
import { defineHistory } from './definitions/history.ts';
import { defineInspect } from './definitions/inspect.ts';
import { defineRemove } from './definitions/remove.ts';
import { defineResume } from './definitions/resume.ts';
import type { Run } from './definitions/run.ts';
import { defineSign } from './definitions/sign.ts';
import { defineTimestamp } from './definitions/timestamp.ts';
import { defineVerify } from './definitions/verify.ts';
import { cliErrors } from './errors.ts';
import { refuseForeignOptions } from './foreign-options.ts';
import type { Io } from './io.ts';

const DEFINITIONS = [
  defineSign,
  defineVerify,
  defineTimestamp,
  defineRemove,
  defineAttach,
  defineInspect,
  defineExtract,
  defineResume,
  defineHistory,
];

/** Parses the arguments and runs the command they name. Gives its exit code. */
export async function runProgram(argv: readonly string[], io: Io): Promise<number> {
  let exitCode: number = EXIT_SUCCESS;
  const program = new Command('codesign-remote')
    .description('Signs code with a key that lives in a remote HSM: only a digest leaves this machine.')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: () => undefined,
      getOutHelpWidth: () => 100,
    });
  const run: Run = async (action) => {
    exitCode = await action(io);
  };
  for (const define of DEFINITIONS) define(program, run);
  program.addHelpText('after', '\nRun codesign-remote <command> --help for its options.');

  refuseForeignOptions(argv);
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    if (thrown.exitCode === 0) return EXIT_SUCCESS;
    if (thrown.code === 'commander.help') {
      io.stderr.write(program.helpInformation());
      return 2;
    }
    const isCommand = program.commands.some((command) => command.name() === argv[0]);
    const help = isCommand ? `codesign-remote ${argv[0]} --help` : 'codesign-remote --help';
    throw cliErrors('invalid-usage', { message: thrown.message.replace(/^error: /, '').replaceAll('\n', ' '), help });
  }
  return exitCode;
}
