import { Command, CommanderError, Option } from 'commander';
import { type DataOptions, dataConfig, LOG_LEVELS, type StartOptions, startConfig } from '../config.ts';
import { ServerError } from '../errors.ts';
import { makeData } from '../setup/make-data.ts';
import { type Surroundings, startServer } from '../start.ts';
import { printableLines } from '../text.ts';
import { addCertificateCommands } from './certificates.ts';
import { addClientCommands, addViewerCommands } from './credentials.ts';
import { collect, dataCommand } from './data.ts';
import { addRecordCommands } from './records.ts';

declare const CODESIGN_REMOTE_VERSION: string | undefined;
/** Defined by the build; a run from source has none. */
const VERSION = typeof CODESIGN_REMOTE_VERSION === 'string' ? CODESIGN_REMOTE_VERSION : '0.0.0-development';

const EXIT_INTERNAL = 1;
const EXIT_USAGE = 2;

/**
 * Runs one command.
 * @param args without interpreter and script
 * @param waitForSignal resolves when the process is asked to end
 * @returns the exit code
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
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE; // commander has printed the reason
    if (error instanceof ServerError) {
      surroundings.log.write(`codesign-remote-server: ${error.message}\n${error.hint}\n`);
      return error.exitCode;
    }
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    surroundings.log.write(printableLines(`codesign-remote-server: unexpected error: ${text}\n`));
    return EXIT_INTERNAL;
  }
}

export function buildProgram(surroundings: Surroundings, waitForSignal: () => Promise<void>): Command {
  const { environment, announce, log, now } = surroundings;
  const program = new Command('codesign-remote-server')
    .description('The Remote Code Signing API over an HSM with a PKCS#11 library (SoftHSM)')
    .version(VERSION, '--version', 'prints the version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => announce(text.trimEnd()),
      writeErr: (text) => log.write(printableLines(text)),
    });

  dataCommand(program, 'start', 'starts the server; the first start makes its data and a client')
    .option('--host <address>', 'address to listen on (CODESIGN_SERVER_HOST; default 127.0.0.1)')
    .option('--port <n>', 'port, 0 for a free one (CODESIGN_SERVER_PORT; default 8443)')
    .option('--client-env <path>', "first start: new file for the client's environment")
    .option('--tls-cert <pem>', "TLS certificate with its chain, instead of one by the server's CA")
    .option('--tls-key <pem>', 'its private key')
    .option('--tls-name <name>', 'further name or address that clients use; repeatable', collect)
    .addOption(new Option('--log-level <level>', 'level of the log on standard error').choices(LOG_LEVELS))
    .action(async (options: StartOptions) => {
      const config = startConfig(options, environment);
      const asked = waitForSignal(); // from now on: a signal during the start is not lost
      const server = await startServer(config, surroundings);
      await asked;
      await server.stop();
    });
  dataCommand(program, 'init', 'makes token, authority and first certificate; prints their folder').action(
    async (options: DataOptions) => announce((await makeData(dataConfig(options, environment), environment, now)).path),
  );
  addCertificateCommands(program, surroundings);
  addClientCommands(program, surroundings);
  addViewerCommands(program, surroundings);
  addRecordCommands(program, surroundings);
  return program;
}
