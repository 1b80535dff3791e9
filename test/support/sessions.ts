/** Sessions as text: a script's commands run in the surroundings that it names, and written down with all that came of it. */

import { appendFile, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fixture, runCli, snapshot, temporaryFolder } from './cli.ts';
import { runOnPty } from './pty.ts';

/** By the name that scripts have for them: columns of a pseudo-terminal (none: a pipe), and variables. */
const SURROUNDINGS: Readonly<Record<string, Surroundings>> = {
  'a pipe': {},
  'a job of GitHub Actions': { env: { CI: 'true', GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: 'summary.md' } },
  'a terminal of 80 columns': { columns: 80 },
  'a terminal of 40 columns': { columns: 40 },
  'a terminal of 0 columns': { columns: 0 },
  'a terminal with CI=1': { columns: 80, env: { CI: '1' }, isPlain: true },
  'a terminal with NO_COLOR=1': { columns: 80, env: { NO_COLOR: '1' } },
  'a terminal with TERM=dumb': { columns: 80, env: { TERM: 'dumb' }, isPlain: true },
};

interface Surroundings {
  readonly columns?: number;
  readonly env?: Env;
  /** There must be no escape sequence. Elsewhere a live line may come and go, or not, as time has it. */
  readonly isPlain?: boolean;
}

type Env = Readonly<Record<string, string>>;

export interface Script {
  /** What it shows, up to the first step. */
  readonly head: readonly string[];
  readonly surroundings: string;
  readonly files: readonly string[];
  /** `$ codesign-remote …`, or `! change FILE`, `! restore FILE`; `<service>` in it stands for its address. */
  readonly steps: readonly string[];
}

/** What sessions may find: files beside the fixtures, variables, and texts that differ from run to run. */
export interface Scenery {
  /** Path by name. */
  readonly files: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  /** Text and what stands for it; longer ones first. */
  readonly places: readonly (readonly [text: string, placeholder: string])[];
}

const PROGRAM = 'codesign-remote';

/** Takes of a transcript only what is to be done. */
export function readScript(text: string): Script {
  const lines = text.split('\n');
  const first = lines.findIndex((line) => /^[$!] /.test(line));
  const head = lines.slice(0, first);
  const said = (what: string): string =>
    head.find((line) => line.startsWith(`${what}: `))?.slice(what.length + 2) ?? '';
  return {
    head,
    surroundings: said('in'),
    files: said('with').split(' ').filter(Boolean),
    steps: lines.slice(first).filter((line) => /^[$!] /.test(line)),
  };
}

/** Runs the script in a folder of its own; gives it with all that was printed, each exit code, and the files that changed. */
export async function runScript({ head, surroundings, files, steps }: Script, scenery: Scenery): Promise<string> {
  const around = SURROUNDINGS[surroundings];
  if (around === undefined) throw new Error(`nothing is known of the surroundings "${surroundings}"`);
  await using folder = await temporaryFolder('codesign-session-');
  const cwd = join(folder.path, 'work');
  await mkdir(cwd);
  for (const file of files) await provide(file, cwd, scenery);
  const beside = { CODESIGN_STATE_DIR: join(folder.path, 'state'), CODESIGN_CONFIG_DIR: join(folder.path, 'config') };
  const env = { ...scenery.env, ...beside, ...around.env };
  const plain = (text: string): string =>
    withoutChance(text, [[cwd, '<folder>'], [folder.path, '<beside>'], ...scenery.places]);

  const told = [...head];
  for (const step of steps) {
    const before = await snapshot(cwd);
    const [words = '', ...pipe] = inPlace(step.slice(2), scenery).split(' | head -n ');
    const [verb = '', ...args] = words.split(' ');
    told.push(step);
    if (verb === PROGRAM) {
      const run =
        around.columns === undefined ? inPipe(args, env, cwd, Number(pipe[0])) : onTerminal(args, env, cwd, around);
      told.push(...(await run).map(plain));
    } else if (verb === 'change') {
      await appendFile(join(cwd, args[0] ?? ''), 'more');
    } else if (verb === 'restore') {
      await provide(args[0] ?? '', cwd, scenery);
    } else {
      throw new Error(`nobody knows how to ${verb}`);
    }
    told.push(...changes(before, await snapshot(cwd), cwd), '');
  }
  return told.join('\n');
}

/** With what placeholders stand for. */
function inPlace(step: string, { places }: Scenery): string {
  return places.reduce((text, [place, placeholder]) => text.replaceAll(placeholder, place), step);
}

async function provide(name: string, folder: string, { files }: Scenery): Promise<void> {
  const FIXTURES: Readonly<Record<string, string>> = {
    'app.exe': 'pe/hello.exe',
    'tool.exe': 'pe/pe32.exe',
    'library.jar': 'jar/plain.jar',
  };
  const from = files[name] ?? (FIXTURES[name] === undefined ? undefined : fixture(FIXTURES[name]));
  if (from === undefined) await writeFile(join(folder, name), 'Not a program.\n');
  else await copyFile(from, join(folder, name));
}

/** `head`: lines of standard output that are shown; NaN for all. */
async function inPipe(args: readonly string[], env: Env, cwd: string, head: number): Promise<string[]> {
  const { code, stdout, stderr } = await runCli(args, { env, cwd });
  const shown = Number.isNaN(head)
    ? stdout
    : stdout
        .split(/(?<=\n)/)
        .slice(0, head)
        .join('');
  return [...block('standard output', shown), ...block('standard error', stderr), `exit code ${code}`];
}

async function onTerminal(
  args: readonly string[],
  env: Env,
  cwd: string,
  { columns = 80, isPlain = false }: Surroundings,
): Promise<string[]> {
  const { code, output, screen } = await runOnPty(args, { columns, env, cwd });
  const escapes = isPlain && output.includes('\x1b') ? ['ESCAPE SEQUENCES'] : [];
  return [...block('screen', screen), ...escapes, `exit code ${code}`];
}

function block(title: string, text: string): string[] {
  if (text === '') return [];
  const lines = text.split('\n');
  const isWhole = lines.at(-1) === '';
  const shown = (isWhole ? lines.slice(0, -1) : lines).map((line) => `  ${line}`.trimEnd());
  return [`${title}:`, ...shown, ...(isWhole ? [] : ['  (no end of line)'])];
}

type Digests = Readonly<Record<string, string>>;

function changes(before: Digests, after: Digests, folder: string): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].sort().flatMap((path) => {
    if (before[path] === after[path]) return [];
    const how = before[path] === undefined ? 'made' : after[path] === undefined ? 'removed' : 'changed';
    return [`file ${relative(folder, path)}: ${how}`];
  });
}

const CHANCE: readonly (readonly [pattern: RegExp, placeholder: string])[] = [
  [/\b[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/g, '<uuid>'],
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z?/g, '<time>'],
  [/\b\d{4}-\d\d-\d\d\b/g, '<date>'],
  [/\b\d{4}-\d\d\b(?=\s)/g, '<month>'],
  [/\b[\da-f]{64}\b/g, '<sha256>'],
  [/\b[\da-f]{40}\b/g, '<sha1>'],
  [/\b[\da-f]{32}\b/g, '<serial>'],
  [/\b[\da-f]{20}\b/g, '<call>'],
  [/\bCA [\da-f]{8}\b/g, 'CA <name>'],
  [/\b0x[\da-f]{8}\b/g, '<checksum>'],
  // Another zlib deflates otherwise, and a random number may be a byte shorter.
  [/\b[\d,]+(?=\s+bytes)/g, '<n>'],
  [/\b(byte|at) \d+/g, '$1 <n>'],
  [/\bAK[\dA-F]{2}…[\dA-F]{4}\b/g, '<masked>'],
  [/\b\d+ ms\b/g, '<n> ms'],
  [/"milliseconds": \d+/g, '"milliseconds": <n>'],
  [/\b\d+\.\d s\b/g, '<n> s'],
];

function withoutChance(text: string, places: Scenery['places']): string {
  let plain = text;
  for (const [place, placeholder] of places) plain = plain.replaceAll(place, placeholder);
  for (const [pattern, placeholder] of CHANCE) plain = plain.replace(pattern, placeholder);
  return plain;
}

export async function readScriptFile(path: string): Promise<Script> {
  return readScript(await readFile(path, 'utf8'));
}
