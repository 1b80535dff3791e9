import { run } from './cli/program.ts';
import { boundedLog } from './http/log.ts';

/** Exit code after a second signal: 128 plus the number of the signal. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143, ...(process.stderr.isTTY && { SIGHUP: 129 }) };
/** Signals that arrive within this many milliseconds count as one: under npm, Ctrl-C arrives twice. */
const ECHO = 1000;
/** Time for which the process waits at its end until the last log lines are read, in milliseconds. */
const LAST_LINES = 1000;

process.umask(0o077); // files that the HSM and the database write are for this user only

// The program that reads the log or the address may exit before the server. The server then continues.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

/** The limit applies only to the server: other commands, such as `export`, finish writing to a slow reader. */
let isServer = false;
let reload = () => {};
// Closing a terminal also sends SIGHUP. The signal therefore stops a server that runs in a terminal; any other server
// reloads its files.
if (!process.stderr.isTTY) process.on('SIGHUP', () => reload());

process.exitCode = await run(
  process.argv.slice(2),
  {
    environment: process.env,
    now: () => new Date(),
    announce: (line) => process.stdout.write(`${line}\n`),
    log: boundedLog(process.stderr),
    onHangUp: (work) => {
      reload = work;
    },
    terminal: process.stderr.isTTY ? (text) => process.stderr.write(text) : undefined,
  },
  waitForSignal,
);

// Output that is waiting to be read from a pipe would keep the process alive until the pipe is closed.
if (isServer) setTimeout(() => process.exit(), LAST_LINES).unref();

async function waitForSignal(): Promise<void> {
  isServer = true;
  await new Promise<void>((resolve) => {
    let first: number | undefined;
    for (const signal of Object.keys(SIGNALS) as (keyof typeof SIGNALS)[]) {
      process.on(signal, () => {
        if (first !== undefined && performance.now() - first > ECHO) process.exit(SIGNALS[signal]);
        first ??= performance.now();
        resolve();
      });
    }
  });
}
