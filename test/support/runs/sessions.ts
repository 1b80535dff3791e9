/** Sessions as text: a script's commands run in the surroundings that it names, and written down with all that came of it. */

import { appendFile, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { LEAST_LIVE_COLUMNS } from '../../../src/cli/output/terminal.ts';
import { widthOf, wrapped } from '../../../src/cli/output/text-layout.ts';
import { makePackage } from '../../unit/formats/appx/samples.ts';
import { makeCabinet } from '../../unit/formats/cab/samples.ts';
import { makeCompoundFile } from '../../unit/formats/msi/samples.ts';
import { countersignedPackage } from '../../unit/formats/nuget/repository-signatures.ts';
import { documentWithField, makePdf } from '../../unit/formats/pdf/make-pdf.ts';
import { CLI_PROGRAM, fixture, runCliProcess, snapshot, temporaryFolder } from '../programs/cli.ts';
import { runOnPty } from '../programs/pty.ts';
import { startSecretService } from '../programs/secret-service.ts';
import { MADE_INPUTS, SERVER_PUBLISHER } from '../signed-files/made-inputs.ts';
import { type Places, withoutChance } from './session-chance.ts';
import type { Shell } from './shell.ts';

/** By the name that scripts have for them: columns of a pseudo-terminal (none: a pipe), and variables. */
const SURROUNDINGS: Readonly<Record<string, Surroundings>> = {
  'a pipe': {},
  'a pipe, with the requests for signatures counted': { isCounted: true },
  'a job of GitHub Actions': { env: { CI: 'true', GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: 'summary.md' } },
  'a terminal of 80 columns': { columns: 80 },
  'a terminal of 40 columns': { columns: 40 },
};

interface Surroundings {
  readonly columns?: number;
  readonly env?: Env;
  readonly isCounted?: boolean;
}

type Env = Readonly<Record<string, string>>;

export interface Script {
  readonly head: readonly string[];
  readonly surroundings: string;
  readonly files: readonly string[];
  /** Variables of the scenery that are not set. */
  readonly without: readonly string[];
  /** Whether there is a keyring of its own, unlocked. */
  readonly hasKeyring: boolean;
  readonly steps: readonly Step[];
}

export interface Step {
  /**
   * `$ codesign-remote …`, `! change FILE`, `! restore FILE`, `! set NAME=VALUE`, `! cd FOLDER` for what follows, `! sh …` with
   * $CODESIGN and $FIXTURES; `<service>` stands for its address.
   */
  readonly line: string;
  /** `< …` after it: typed one after the other when a question has come, or standard input where that is a pipe. */
  readonly answers: readonly string[];
}

/** What sessions may find: files next to the fixtures, variables, and texts that differ from run to run. */
export interface Scenery {
  readonly files: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  readonly places: Places;
  /** Requests for signatures that its client has sent. */
  requests(): number;
  readonly shell: Shell;
}

const PROGRAM = 'codesign-remote';

/** What a terminal's user types to end the input. */
const END = '\x04';
/** Where the text of a message begins. */
const MESSAGE_COLUMNS = [9, 13, 14];
/** With `| head -n 3`, a session shows only three lines of the output, and with `> FILE` none. */
const COMMAND = /^(.*?)(?: \| head -n (\d+))?(?: > (\S+))?$/;
/** How a question ends that waits for its answer. */
const QUESTION = /[:\]] $/;

/** Takes of a transcript only what is to be done. */
export function readScript(text: string): Script {
  const lines = text.split('\n');
  const first = lines.findIndex((line) => /^[$!] /.test(line));
  const head = lines.slice(0, first);
  const stray = head.find((line) => line.startsWith(' '));
  if (stray !== undefined) throw new Error(`no command printed this: ${stray}`);
  const said = (what: string): string =>
    head.find((line) => line.startsWith(`${what}: `))?.slice(what.length + 2) ?? '';
  const steps: { line: string; answers: string[] }[] = [];
  for (const line of lines.slice(first)) {
    if (/^[$!] /.test(line)) steps.push({ line, answers: [] });
    else if (/^<( |$)/.test(line)) steps.at(-1)?.answers.push(line.slice(2));
  }
  return {
    head,
    surroundings: said('in'),
    files: said('with').split(' ').filter(Boolean),
    without: said('without').split(' ').filter(Boolean),
    hasKeyring: said('keyring') === 'unlocked',
    steps,
  };
}

/**
 * Runs the script in a folder of its own; gives it with all that was printed, each exit code, and the files that changed.
 * @param run `runCli`, which is quicker, only where no other script runs concurrently
 */
export async function runScript(script: Script, scenery: Scenery, run = runCliProcess): Promise<string> {
  const { head, files, steps } = script;
  const around = SURROUNDINGS[script.surroundings];
  if (around === undefined) throw new Error(`nothing is known of the surroundings "${script.surroundings}"`);
  await using folder = await temporaryFolder('codesign-session-');
  await using keyring = script.hasKeyring ? await startSecretService() : undefined;
  const cwd = join(folder.path, 'work');
  await mkdir(cwd);
  for (const file of files) await provide(file, cwd, scenery);
  const set = Object.entries(scenery.env).filter(([name]) => !script.without.includes(name));
  const beside = { CODESIGN_STATE_DIR: join(folder.path, 'state'), CODESIGN_CONFIG_DIR: join(folder.path, 'config') };
  const env: Record<string, string> = { ...Object.fromEntries(set), ...beside, ...keyring?.env, ...around.env };
  const plain = (text: string): string =>
    withoutChance(text, [[cwd, '<folder>'], [folder.path, '<beside>'], ...scenery.places]);

  const told = [...head];
  let at = cwd;
  let before = await snapshot(cwd);
  for (const step of steps) {
    const requests = scenery.requests();
    const [, words = '', lines, into] = COMMAND.exec(inPlace(step.line.slice(2), scenery)) ?? [];
    const [verb = '', ...args] = (words.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ''));
    const answers = step.answers.map((answer) => inPlace(answer, scenery));
    told.push(step.line, ...step.answers.map((answer) => `< ${answer}`.trimEnd()));
    if (verb === PROGRAM) {
      const task = { args, env, cwd: at, answers, head: Number(lines ?? Number.POSITIVE_INFINITY), into };
      const printed = await (around.columns === undefined ? inPipe(task, run) : onTerminal(task, around, plain));
      told.push(plain(printed.join('\n')));
      if (around.isCounted && scenery.requests() > requests) told.push(`requests: ${scenery.requests() - requests}`);
    } else if (verb === 'set') {
      const [, name = '', value = ''] = /^set (\w+)=(.*)$/.exec(words) ?? [];
      env[name] = value;
    } else if (verb === 'sh') {
      const shell = {
        LC_ALL: 'C.UTF-8',
        FIXTURES: fixture(''),
        CODESIGN: `${process.execPath} ${CLI_PROGRAM}`,
        ...env,
      };
      const { status, stdout } = await scenery.shell.run(inPlace(step.line.slice(5), scenery), at, shell);
      told.push(...block('standard output', plain(stdout)), ...(status === 0 ? [] : [`exit code ${status}`]));
    } else if (verb === 'cd') {
      at = join(cwd, args[0] ?? '');
    } else if (verb === 'change') {
      await appendFile(join(cwd, args[0] ?? ''), 'more');
    } else if (verb === 'restore') {
      await provide(args[0] ?? '', cwd, scenery);
    } else {
      throw new Error(`unknown step ${verb}`);
    }
    const after = await snapshot(cwd);
    told.push(...changes(before, after, cwd), '');
    before = after;
  }
  return told.join('\n');
}

function inPlace(step: string, { places }: Scenery): string {
  return places.reduce((text, [place, placeholder]) => text.replaceAll(placeholder, place), step);
}

/** Of the kinds that sessions show, each one that is made. */
const MADE: Readonly<Record<string, () => Buffer | Promise<Buffer>>> = {
  'script.ps1': () => Buffer.from('Get-Date\r\n'),
  'setup.msi': makeCompoundFile,
  'data.cab': makeCabinet,
  'app.msix': () => MADE_INPUTS.appx.make(),
  'another.msix': () => makePackage({ publisher: 'CN=Another Publisher' }),
  'changed.msix': () =>
    makePackage({ publisher: SERVER_PUBLISHER, blockMap: (text) => text.replace('Size="198"', 'Size="199"') }),
  'library.nupkg': () => MADE_INPUTS.nuget.make(),
  'published.nupkg': countersignedPackage,
  'extension.app': () => MADE_INPUTS.navx.make(),
  'report.pdf': () => makePdf(),
  'form.pdf': () => makePdf(),
  'approved.pdf': () => documentWithField(),
  'encrypted.pdf': () => makePdf({ trailer: '/Encrypt << /Filter /Standard /V 4 >>' }),
};

async function provide(name: string, folder: string, { files }: Scenery): Promise<void> {
  const FIXTURES: Readonly<Record<string, string>> = {
    'app.exe': 'pe/hello.exe',
    'tool.exe': 'pe/pe32.exe',
    'library.jar': 'jar/plain.jar',
  };
  const made = MADE[name];
  if (made !== undefined) return writeFile(join(folder, name), await made());
  const from = files[name] ?? (FIXTURES[name] === undefined ? undefined : fixture(FIXTURES[name]));
  if (from === undefined) await writeFile(join(folder, name), 'Not a program.\n');
  else await copyFile(from, join(folder, name));
}

interface Task {
  readonly args: readonly string[];
  readonly env: Env;
  readonly cwd: string;
  readonly answers: readonly string[];
  /** So many lines of what was printed are shown. */
  readonly head: number;
  /** A file that gets the standard output. */
  readonly into: string | undefined;
}

async function inPipe({ args, env, cwd, answers, head, into }: Task, run: typeof runCliProcess): Promise<string[]> {
  const stdin = answers.map((answer) => `${answer}\n`).join('');
  const { code, stdout, stderr } = await run(args, { env, cwd, stdin });
  if (into !== undefined) await writeFile(join(cwd, into), stdout);
  return [
    ...(into === undefined ? block('standard output', firstLines(stdout, head)) : []),
    ...block('standard error', stderr),
    `exit code ${code}`,
  ];
}

async function onTerminal(
  task: Task,
  { columns = 80 }: Surroundings,
  plain: (text: string) => string,
): Promise<string[]> {
  const { args, env, cwd, head } = task;
  const answers = [...task.answers];
  let read = 0;
  const { code, screen } = await runOnPty(args, {
    columns,
    env,
    cwd,
    onOutput(printed, terminal) {
      if (!QUESTION.test(printed.slice(read))) return;
      read = printed.length;
      const answer = answers.shift();
      terminal.type(answer === undefined ? END : `${answer}\r`);
    },
  });
  return [...block('screen', firstLines(rewrapped(screen, columns, plain), head)), `exit code ${code}`];
}

/**
 * Messages break elsewhere if a path or a number is longer in another run: those that have one are joined as they were before,
 * and wrapped again with its placeholder.
 */
function rewrapped(screen: string, columns: number, plain: (text: string) => string): string {
  if (columns < LEAST_LIVE_COLUMNS) return screen;
  const texts: string[][] = [];
  let lead = 0;
  for (const line of screen.split('\n')) {
    const isFurther = lead > 0 && line.search(/\S/) === lead;
    const last = texts.at(-1);
    const [word = ''] = line.trimStart().split(' ');
    const wouldFit = widthOf(`${uncoloured(last?.at(-1) ?? '')} ${word}`) <= columns;
    if (isFurther && !wouldFit && word !== 'hint:') last?.push(line);
    else texts.push([line]);
    if (!isFurther) lead = /^[\w-]+ {2,}/.exec(uncoloured(line))?.[0].length ?? 0;
    if (!MESSAGE_COLUMNS.includes(lead)) lead = 0;
  }
  const laidOut = texts.flatMap((lines) => {
    const text = lines.map((line, index) => (index === 0 ? line : line.trimStart())).join(' ');
    const [word = ''] = /^(?:\{\w+\}[\w-]+\{\/\})?/.exec(text) ?? [];
    if (lines.length === 1 || plain(text) === text) return lines;
    const [first = '', ...more] = wrapped(uncoloured(plain(text)), columns);
    return [word + first.slice(uncoloured(word).length), ...more];
  });
  return laidOut.join('\n');
}

function uncoloured(text: string): string {
  return text.replace(/\{(?:\w+|\/)\}/g, '');
}

function firstLines(text: string, count: number): string {
  return text
    .split(/(?<=\n)/)
    .slice(0, count)
    .join('');
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
