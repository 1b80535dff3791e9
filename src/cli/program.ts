/** The commands and their options, as commander knows them: `--help` is made from this. */

import { Command, CommanderError } from 'commander';
import { VERSION } from '../app/version.ts';
import { EXIT_SUCCESS } from '../errors/exit-codes.ts';
import { defineAttach } from './definitions/attach.ts';
import { defineCompletion } from './definitions/completion.ts';
import { defineConfig } from './definitions/config.ts';
import { defineExtract } from './definitions/extract.ts';
import { defineHistory } from './definitions/history.ts';
import { defineInit } from './definitions/init.ts';
import { defineInspect } from './definitions/inspect.ts';
import { defineLogin } from './definitions/login.ts';
import { defineLogout } from './definitions/logout.ts';
import { defineRemove } from './definitions/remove.ts';
import { defineResume } from './definitions/resume.ts';
import type { Run } from './definitions/run.ts';
import { defineSign } from './definitions/sign.ts';
import { defineTimestamp } from './definitions/timestamp.ts';
import { defineVerify } from './definitions/verify.ts';
import { defineWhoami } from './definitions/whoami.ts';
import { cliErrors } from './errors.ts';
import { refuseForeignOptions } from './foreign-options.ts';
import { formatItem, helpColumns, wrapHelp } from './help-layout.ts';
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
  defineInit,
  defineLogin,
  defineLogout,
  defineWhoami,
  defineConfig,
  defineCompletion,
];

/** All commands, with an action that goes through `run`. */
export function defineProgram(run: Run): Command {
  const program = new Command('codesign-remote')
    .description('Signs code with a key that lives in a remote HSM: only a digest leaves this machine.')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .showSuggestionAfterError()
    .exitOverride();
  for (const define of DEFINITIONS) define(program, run);
  program.addHelpText(
    'after',
    '\nThe first time: codesign-remote init, codesign-remote login, codesign-remote sign <file>.\nRun codesign-remote <command> --help for its options.',
  );
  return program;
}

/** Parses the arguments and runs the command they name. Gives its exit code. */
export async function runProgram(argv: readonly string[], io: Io): Promise<number> {
  let exitCode: number = EXIT_SUCCESS;
  const program = defineProgram(async (action) => {
    exitCode = await action(io);
  });
  showHelpThrough(program, io);
  refuseForeignOptions(argv);
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    if (thrown.exitCode === 0) return EXIT_SUCCESS;
    if (thrown.code === 'commander.help') {
      if (argv[0] === 'help' && argv[1] !== undefined) throw unknownCommand(argv[1]);
      const named = program.commands.find((command) => command.name() === argv[0]) ?? program;
      showHelpThrough(named, { ...io, stdout: io.stderr });
      named.outputHelp();
      return 2;
    }
    const isCommand = program.commands.some((command) => command.name() === argv[0]);
    const help = isCommand ? `codesign-remote ${argv[0]} --help` : 'codesign-remote --help';
    throw cliErrors('invalid-usage', { message: thrown.message.replace(/^error: /, '').replaceAll('\n', ' '), help });
  }
  return exitCode;
}

function unknownCommand(name: string): Error {
  return cliErrors('invalid-usage', { message: `unknown command '${name}'`, help: 'codesign-remote --help' });
}

/** Commands take this over when they are defined, so it is told to each of them. */
function showHelpThrough(command: Command, io: Io): void {
  const columns = helpColumns(io.stdout);
  command.configureHelp({ formatItem });
  command.configureOutput({
    writeOut: (text) => io.stdout.write(wrapHelp(text, columns)),
    writeErr: () => undefined,
    getOutHelpWidth: () => columns,
  });
  for (const below of command.commands) showHelpThrough(below, io);
}
