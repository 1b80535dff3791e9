/** The command line of the server: arguments to settings, errors to exit codes. */

import { Command, CommanderError, Option } from 'commander';
import { ServerError } from '../errors.ts';
import { type Surroundings, startServer } from '../start.ts';
import { addAdminCommands, collect } from './commands.ts';
import { LOG_LEVELS, type StartOptions, startConfig } from './config.ts';

declare const CODESIGN_REMOTE_VERSION: string | undefined;
/** Of the build; a run from the source has none. */
const VERSION = typeof CODESIGN_REMOTE_VERSION === 'string' ? CODESIGN_REMOTE_VERSION : '0.0.0-development';

const EXIT_INTERNAL = 1;
const EXIT_USAGE = 2;

/**
 * Runs one command.
 * @param args without interpreter and script
 * @param waitForSignal resolves when the process is asked to end
 * @returns the exit code, once all is done
 */
export async function run(
  args: readonly string[],
  surroundings: Surroundings,
  waitForSignal: () => Promise<void>,
): Promise<number> {
  const program = buildProgram(surroundings, waitForSignal);
  try {
    await program.parseAsync([...args], { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE; // it has printed why
    if (error instanceof ServerError) {
      surroundings.log.write(`codesign-remote-server: ${error.message}\n${error.hint}\n`);
      return error.exitCode;
    }
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    surroundings.log.write(`codesign-remote-server: unexpected fault: ${text}\n`);
    return EXIT_INTERNAL;
  }
}

/** Every command with its options. */
export function buildProgram(surroundings: Surroundings, waitForSignal: () => Promise<void>): Command {
  const { environment, announce, log } = surroundings;
  const program = new Command('codesign-remote-server')
    .description('The Remote Code Signing API over an HSM with a PKCS#11 library (SoftHSM)')
    .version(VERSION, '--version', 'prints the version')
    .exitOverride()
    .configureOutput({ writeOut: (text) => announce(text.trimEnd()), writeErr: (text) => log.write(text) });

  withDataOptions(program.command('start'))
    .description('starts the server; the first start makes its data and hands the credentials of a client over, once')
    .option('--host <address>', 'where to listen (CODESIGN_SERVER_HOST; default 127.0.0.1)')
    .option('--port <n>', 'port, 0 for a free one (CODESIGN_SERVER_PORT; default 8443)')
    .option('--client-env <path>', "first start: writes the client's environment lines to this new file")
    .option('--tls-cert <pem>', 'a TLS certificate with its chain, instead of one by the own CA of the server')
    .option('--tls-key <pem>', 'its private key')
    .option('--tls-name <name>', 'another name or address that clients reach the server by; repeatable', collect)
    .option('--tsa', 'serves an RFC 3161 time stamp authority at /tsa (CODESIGN_SERVER_TSA=1; default: off)')
    .addOption(new Option('--log-level <level>', 'how much to log on standard error').choices(LOG_LEVELS))
    .action(async (options: StartOptions) => {
      const config = startConfig(options, environment);
      const asked = waitForSignal(); // from now on: one that comes while it starts is not lost
      const server = await startServer(config, surroundings);
      await asked;
      await server.stop();
    });

  addAdminCommands(program, withDataOptions, surroundings);
  return program;
}

function withDataOptions(command: Command): Command {
  return command
    .exitOverride()
    .option(
      '--config <file>',
      'a JSON file with settings (CODESIGN_SERVER_CONFIG); options and environment win over it',
    )
    .option(
      '--data <folder>',
      'token, database and certificates (CODESIGN_SERVER_DATA; default: where the platform keeps data)',
    )
    .option(
      '--database <url>',
      'postgres://… for several servers (CODESIGN_SERVER_DATABASE; default: SQLite in the data folder)',
    )
    .option(
      '--pkcs11-library <path>',
      "the HSM's PKCS#11 library (CODESIGN_SERVER_PKCS11_LIBRARY; default: SoftHSM's, in the usual places)",
    )
    .option(
      '--pkcs11-token <label>',
      'a token that is there already (CODESIGN_SERVER_PKCS11_TOKEN; default: one made in the data folder)',
    )
    .option(
      '--pkcs11-pin-file <path>',
      'holds its PIN (CODESIGN_SERVER_PKCS11_PIN_FILE; or the PIN itself: CODESIGN_SERVER_PKCS11_PIN)',
    );
}
