import { Command, CommanderError, Option } from 'commander';
import { type DataOptions, LOG_LEVELS, readConfig, type StartOptions } from '../config.ts';
import { ServerError } from '../errors.ts';
import { isOfDatabase } from '../records/database-errors.ts';
import { makeData } from '../setup/make-data.ts';
import { openStore } from '../setup/open-data.ts';
import { type Surroundings, startServer } from '../start.ts';
import { printableLines } from '../text.ts';
import { addCertificateCommands } from './certificates.ts';
import { addClientCommands } from './clients.ts';
import { collect, dataCommand, operationOf } from './data.ts';
import { addRecordCommands } from './records.ts';
import { addViewerCommands } from './viewers.ts';

declare const CODESIGN_REMOTE_VERSION: string | undefined;
/** The program has no version when it runs from source. */
const VERSION = typeof CODESIGN_REMOTE_VERSION === 'string' ? CODESIGN_REMOTE_VERSION : '0.0.0-development';

const EXIT_INTERNAL = 1;
const EXIT_USAGE = 2;

/**
 * @param args arguments after the interpreter and the script
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
  } catch (thrown) {
    const error = asServerError(thrown);
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

/** Each step of a command can fail because the disk is full or the database is unavailable. */
function asServerError(error: unknown): unknown {
  if (isOfDatabase(error)) return new ServerError('database-unusable', {}, error);
  const isOfSystem = error instanceof Error && 'syscall' in error;
  return isOfSystem ? new ServerError('files-unusable', { reason: error.message }, error) : error;
}

export function buildProgram(surroundings: Surroundings, waitForSignal: () => Promise<void>): Command {
  const { environment, announce, log } = surroundings;
  const program = new Command('codesign-remote-server')
    .description('Server of the Remote Code Signing API for SoftHSM or another HSM with a PKCS#11 library')
    .version(VERSION, '--version', 'prints the version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => announce(text.trimEnd()),
      writeErr: (text) => log.write(printableLines(text)),
    });

  dataCommand(program, 'start', 'starts the server; the first start also creates the data folder and the first client')
    .option('--host <address>', 'address to listen on (CODESIGN_SERVER_HOST; default 127.0.0.1)')
    .option('--port <n>', 'port to listen on; 0 selects a free port (CODESIGN_SERVER_PORT; default 8443)')
    .option('--client-env <path>', "first start: new file for the client's environment")
    .option('--tls-cert <pem>', "TLS certificate chain (default: certificate of the server's own CA)")
    .option('--tls-key <pem>', 'private key of the TLS certificate')
    .option('--tls-name <name>', 'additional host name or IP address of the server; repeatable', collect)
    .addOption(new Option('--log-level <level>', 'minimum level of the log on standard error').choices(LOG_LEVELS))
    .action(async (options: StartOptions, command: Command) => {
      const config = readConfig(options, environment);
      const asked = waitForSignal(); // a signal during the start must not be lost
      const server = await startServer(config, surroundings, operationOf(command, surroundings));
      await asked;
      await server.stop();
    });
  const init =
    'creates the token, the authority and the first certificate, or updates the database; prints the path of the data folder';
  dataCommand(program, 'init', init).action(async (options: DataOptions, command: Command) => {
    const config = readConfig(options, environment);
    const folder = await makeData(config, environment, operationOf(command, surroundings), 'create');
    await (await openStore(folder, config.database, 'update')).close();
    announce(folder.path);
  });
  addCertificateCommands(program, surroundings);
  addClientCommands(program, surroundings);
  addViewerCommands(program, surroundings);
  addRecordCommands(program, surroundings);
  return program;
}
