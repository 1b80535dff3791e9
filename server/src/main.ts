/** The program: hands the process's own streams, clock and signals to the command line. */

import { run } from './cli/program.ts';
import { boundedLog } from './http/log.ts';

/** Exit codes after a second signal: 128 plus the number of the signal. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143, ...(process.stderr.isTTY && { SIGHUP: 129 }) };
/** Ctrl-C reaches a server under npm twice, from the terminal and from npm: what comes this soon is the same signal. Milliseconds. */
const ECHO = 1000;
/** How long the last lines of the log wait for a reader once the server has stopped. Milliseconds. */
const LAST_LINES = 1000;

process.umask(0o077); // what HSM and database write is readable for this user only

// The reader of the log or of the address may end before the server, which goes on serving.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

/** A signal ends a server. Other commands, such as `export`, write all they have to a slow reader. */
let isServer = false;
let reload = () => {};
// A terminal that is closed says so with the same signal: a server in one ends with it, another one reads its certificate.
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

// What waits for the reader of a pipe would keep the process for as long as the pipe is open.
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
