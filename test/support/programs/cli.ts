/** The command line, in this process or as a process of its own. What it prints and leaves is searched for the credentials that it was given. */

import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, chown, copyFile, cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { clockFromNow } from '../../../src/app/clock.ts';
import { lazy } from '../../../src/bytes/reuse.ts';
import { runMain } from '../../../src/cli/main.ts';
import { mustHoldNoCredentials, watchRun } from '../credential-watch.ts';
import { madeOnce } from '../made-once.ts';

export const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url));
export const CLI_PROGRAM = join(REPOSITORY, 'bin', 'codesign-remote.js');

type Variables = Readonly<Record<string, string>>;

export interface CliRun {
  /** The exit code; null when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  /** The variables the program sees next to PATH and HOME: nothing of this process's own CODESIGN_… gets through. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly stdin?: string;
  /** Another program to start it with, such as `unshare`; the command line is appended. */
  readonly through?: readonly string[];
  readonly program?: string;
  /** Another copy of Node's own program than the one that runs the tests. */
  readonly node?: string;
  /** Runs it as this user (needs root), by a copy that `programForOthers` makes. */
  readonly uid?: number;
  readonly onStart?: ((kill: (signal: NodeJS.Signals) => void) => void) | undefined;
}

/** The variables that the command line reads through `Io`. Node.js and other programs read the others from the process. */
const READ_THROUGH_IO = new RegExp(
  '^(CODESIGN_(?!TEST_)\\w+|GITHUB_\\w+|CI|NO_COLOR|FORCE_COLOR|TERM|LANG|SSL_CERT_\\w+|NODE_TLS_REJECT_UNAUTHORIZED|\\w+_proxy|' +
    // Those that lead to a keyring: the program hands them to the process that asks it.
    'HOME|XDG_DATA_HOME|XDG_RUNTIME_DIR|DBUS_SESSION_BUS_ADDRESS)$',
  'i',
);

/**
 * Runs `codesign-remote` to its end. Throws if it gave credentials away.
 * The source runs in this process, in the folder that is asked for: test files with concurrent tests name no folder. The built
 * program runs as a process if the options name a program, a user or a listener, or variables that the source does not read itself.
 */
export async function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliRun> {
  const { env = {}, stdin = '', cwd, uid, ...ofProcess } = options;
  const isProcess =
    [uid, ...Object.values(ofProcess)].some((value) => value !== undefined) ||
    Object.keys(env).some((name) => !READ_THROUGH_IO.test(name));
  // A journal for each run, unless several share one.
  const state = env.CODESIGN_STATE_DIR ?? (await mkdtemp(join(tmpdir(), 'codesign-state-')));
  if (uid !== undefined && env.CODESIGN_STATE_DIR === undefined) await chown(state, uid, uid);
  // No settings of the user who runs the tests: that folder does not exist.
  const variables = { CODESIGN_STATE_DIR: state, CODESIGN_CONFIG_DIR: join(state, 'none'), ...env };
  const search = watchRun({ env: variables, args, stdin, cwd });
  try {
    const run = await (isProcess
      ? runProcess(args, variables, options)
      : runIn(cwd, () => runHere(args, variables, stdin)));
    await search({ 'standard output': run.stdout, 'standard error': run.stderr });
    // By then, this process has read the lines that a server logged before it answered.
    await endOfTurn();
    return run;
  } finally {
    if (env.CODESIGN_STATE_DIR === undefined) await rm(state, { recursive: true, force: true });
  }
}

/** The same with the built program as a process in any case. */
export function runCliProcess(args: readonly string[], options: CliOptions = {}): Promise<CliRun> {
  return runCli(args, { ...options, program: CLI_PROGRAM });
}

let folderOfRun: string | undefined;

async function runIn<T>(folder: string | undefined, run: () => Promise<T>): Promise<T> {
  if (folder === undefined) return run();
  if (folderOfRun !== undefined) throw new Error(`another run is in ${folderOfRun}: use runCliProcess`);
  const before = process.cwd();
  folderOfRun = folder;
  process.chdir(folder);
  try {
    return await run();
  } finally {
    process.chdir(before);
    folderOfRun = undefined;
  }
}

async function runHere(args: readonly string[], env: Variables, stdin: string): Promise<CliRun> {
  const [stdout, stderr] = [collect(), collect()];
  const atSuccess: (() => void)[] = [];
  const code = await runMain(args, {
    stdin: Readable.from(stdin === '' ? [] : [Buffer.from(stdin)]),
    stdout: stdout.stream,
    stderr: stderr.stream,
    env,
    clock: clockFromNow(),
    onSignal: () => () => undefined,
    outputFault: () => undefined,
    exit: (exitCode) => {
      throw new Error(`the run ended the process with ${exitCode}`);
    },
    onSuccess: (work) => atSuccess.push(work),
  });
  if (code === 0) for (const work of atSuccess) work();
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

function collect(): { readonly stream: Writable; text(): string } {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString() };
}

async function runProcess(args: readonly string[], variables: Variables, options: CliOptions): Promise<CliRun> {
  const { stdin = '', through = [], program = CLI_PROGRAM, node = process.execPath, uid } = options;
  const [command = node, ...rest] = [...through, node, program, ...args];
  const { PATH, HOME, XDG_CACHE_HOME } = process.env;
  const child = spawn(command, rest, {
    // The folder of the repository may be one that another user cannot enter.
    cwd: options.cwd ?? (uid === undefined ? undefined : tmpdir()),
    env: { PATH, HOME, XDG_CACHE_HOME, ...variables },
    stdio: 'pipe',
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  options.onStart?.((signal) => child.kill(signal));
  const [stdout, stderr] = [collect(), collect()];
  child.stdout.pipe(stdout.stream);
  child.stderr.pipe(stderr.stream);
  child.stdin.on('error', () => undefined).end(stdin);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

/** The program where every user can run it, and Node's own too if it is in a folder that others cannot enter. */
export const programForOthers = lazy(async (): Promise<{ readonly program: string; readonly node: string }> => {
  const otherUser = 65_534;
  const isReachable = spawnSync(process.execPath, ['--version'], { uid: otherUser, cwd: '/' }).status === 0;
  const folder = await madeOnce('program', async (made) => {
    await chmod(made, 0o755);
    // Node.js 20 has no SQLite of its own.
    const driver = ['libsql', '@libsql', '@neon-rs', 'detect-libc'].map((name) => join('node_modules', name));
    const installed = driver.filter((name) => existsSync(join(REPOSITORY, name)));
    for (const part of ['bin', 'dist', 'package.json', ...installed]) {
      await cp(join(REPOSITORY, part), join(made, part), { recursive: true });
    }
    if (!isReachable) await copyFile(process.execPath, join(made, 'node'));
  });
  return {
    program: join(folder, 'bin', 'codesign-remote.js'),
    node: isReachable ? process.execPath : join(folder, 'node'),
  };
});

/** The members of a file in the JSON output that tests read one by one. */
export interface CliFileJson {
  readonly path: string;
  readonly status: string;
  readonly record?: string;
  readonly error?: { readonly code: string; readonly message: string; readonly hint: string | null };
}

export function parseJson({ stdout }: CliRun): {
  readonly files: readonly CliFileJson[];
  readonly summary: Readonly<Record<string, number>>;
  readonly error?: CliFileJson['error'];
} {
  return JSON.parse(stdout);
}

/** A temporary folder that goes with the scope, once it was searched for credentials. */
export async function temporaryFolder(prefix = 'codesign-cli-'): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), prefix));
  return {
    path,
    async [Symbol.asyncDispose]() {
      try {
        await mustHoldNoCredentials({}, [path]);
      } finally {
        await rm(path, { recursive: true, force: true });
      }
    },
  };
}

/** Every file of a folder with its SHA-256: what a test compares before and after. */
export async function snapshot(folder: string): Promise<Readonly<Record<string, string>>> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const digests = files.sort().map((file) => [file, createHash('sha256').update(readFileSync(file)).digest('hex')]);
  return Object.fromEntries(digests);
}

export function fixture(name: string): string {
  return join(REPOSITORY, 'fixtures', name);
}
