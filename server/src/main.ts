import { run } from './cli/program.ts';
import { codeOf, ServerError } from './errors.ts';
import { boundedLog } from './http/log.ts';

/** Exit codes after a second signal: 128 plus the number of the signal. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143, ...(process.stderr.isTTY && { SIGHUP: 129 }) };
/** Milliseconds in which a repeated signal is ignored, because npm sends the signal of Ctrl-C a second time. */
const ECHO = 1000;
/** Milliseconds for which the process waits at its end for the reader of the log. */
const LAST_LINES = 1000;

process.umask(0o077); // only this user may read the files of the HSM and the database

/** Commands other than `start`, such as `export`, wait for a slow reader of their output. */
let isServer = false;

// The server continues if the program that reads its log or its address exits.
process.stderr.on('error', () => {});
process.stdout.on('error', (error) => {
  if (isServer || codeOf(error) === 'EPIPE') return;
  // A truncated export must not look like a complete one.
  const { message, hint, exitCode } = new ServerError('files-unusable', {}, error);
  process.stderr.write(`codesign-remote-server: ${message}\n${hint}\n`);
  process.exit(exitCode);
});

let reload = () => {};
// SIGHUP stops a server in a terminal, because closing the terminal sends SIGHUP. Other servers reload their files.
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

// Unread output in a pipe would keep the process alive until the pipe is closed.
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
