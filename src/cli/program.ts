/** The commands and their options, as commander knows them: `--help` is made from this. */

import { Command, CommanderError, type Option } from 'commander';
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
import { refuseForeignOptions } from './input/foreign-options.ts';
import type { Io } from './io.ts';
import { formatItem, helpColumns, wrapHelp } from './output/help-layout.ts';

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

/** A command that this run does not call. To be named in the help it needs no more than one of its options: "[options]". */
class OtherCommand extends Command {
  override option(flags: string, ...more: readonly unknown[]): this {
    if (this.options.length === 0) Reflect.apply(super.option, this, [flags, ...more]);
    return this;
  }

  override addOption(option: Option): this {
    return this.options.length === 0 ? super.addOption(option) : this;
  }

  override createCommand(name?: string): Command {
    return new OtherCommand(name);
  }
}

class Program extends Command {
  readonly #called: string | undefined;

  constructor(called: string | undefined) {
    super('codesign-remote');
    this.#called = called;
  }

  override createCommand(name?: string): Command {
    return this.#called === undefined || this.#called === name ? new Command(name) : new OtherCommand(name);
  }
}

/** The name of the command that is called or asked about, empty where none is; undefined for one that tells of all of them. */
function calledBy(argv: readonly string[]): string | undefined {
  const [first = '', second = ''] = argv.filter((argument) => !argument.startsWith('-'));
  if (first === 'completion') return undefined;
  return first === 'help' ? second : first;
}

/** All commands, with an action that goes through `run`; with `called`, of the others not every option, which takes time. */
export function defineProgram(run: Run, called?: string): Command {
  const program = new Program(called)
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
  }, calledBy(argv));
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
