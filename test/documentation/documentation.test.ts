/** Holds the documentation to the program: options, environment, exit codes, error codes, scripts and links are those that exist. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Writable } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { changesJson } from '../../src/cli/output/changes/change-json.ts';
import type { ErrorCategory } from '../../src/errors/codesign-error.ts';
import {
  EXIT_MIXED,
  EXIT_NOT_VERIFIED,
  EXIT_SIGINT,
  EXIT_SIGTERM,
  EXIT_SUCCESS,
  exitCodeFor,
} from '../../src/errors/exit-codes.ts';
import { fileErrors } from '../../src/files/errors.ts';
import { definitionOf, isStoredIn, SETTING_KEYS } from '../../src/options/table.ts';
import type { FailedOutcome, SignedOutcome } from '../../src/signing/outcome.ts';
import { errorReference } from './error-reference.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const README = read('README.md');

const CATEGORIES: Readonly<Record<ErrorCategory, true>> = {
  usage: true,
  network: true,
  http: true,
  business: true,
  local: true,
  timestamp: true,
  internal: true,
};

/** The headings under which the commands' options are. */
const COMMANDS = [
  ['sign', 'Options of `sign`'],
  ['resume', '`resume`'],
  ['history', '`history`'],
  ['verify', '`verify`'],
  ['inspect', '`inspect`'],
  ['timestamp', '`timestamp`'],
  ['remove', '`remove`'],
  ['init', '`init`'],
  ['login', '`login`'],
  ['logout', '`logout`'],
  ['whoami', '`whoami`'],
  ['config list', '`config`'],
] as const;

describe('the README', () => {
  it.each(COMMANDS)(
    'has every option of %s, with its environment variable and default, and no other',
    async (command, heading) => {
      const help = await standardOutputOf([...command.split(' '), '--help']);
      const documented = tableIn(heading, 'option').map(([flags, environment, otherwise]) => ({
        flags: code(flags),
        environment: code(environment),
        default: code(otherwise),
      }));
      expect(byFlags(documented)).toEqual(byFlags(optionsIn(help)));
    },
  );

  it('has every setting with its option and the files that may hold it, and no other', () => {
    const documented = tableIn('Settings', 'setting').map(([key, option, inProject, inProfile]) => ({
      key: code(key),
      option: /`(--[a-z-]+)`/.exec(option ?? '')?.[1],
      inProject: inProject !== 'refused',
      inProfile: inProfile !== 'refused',
    }));
    const addresses = ['environments.<name>', 'environment'];
    const known = SETTING_KEYS.map((key) => {
      const { flag: option } = definitionOf(key);
      return { key, option, inProject: isStoredIn('project', key), inProfile: isStoredIn('profile', key) };
    });
    expect(documented.filter(({ key = '' }) => !addresses.includes(key))).toEqual(known);
  });

  it('has every exit code, and no other', () => {
    const fromErrors = (Object.keys(CATEGORIES) as ErrorCategory[]).map((category) => exitCodeFor([category]));
    const known = new Set([EXIT_SUCCESS, ...fromErrors, EXIT_NOT_VERIFIED, EXIT_MIXED, EXIT_SIGINT, EXIT_SIGTERM]);
    const documented = tableIn('Exit codes').flatMap(([codes]) => (codes ?? '').split(', ').map(Number));
    expect(documented.sort(numerically)).toEqual([...known].sort(numerically));
  });

  it('names every environment variable that the source reads', () => {
    const read = [...ownVariables(sourceText('src')), ...variablesReadByName(sourceText('src'))];
    expect(read).toContain('NODE_TLS_REJECT_UNAUTHORIZED');
    expect(read.filter((name) => !README.includes(`\`${name}`))).toEqual([]);
  });

  it('names no environment variable that nothing reads', () => {
    const known = ownVariables(sourceText('src') + sourceText('server/src') + read('test/run-long.mjs'));
    expect(missing(ownVariables(README), known)).toEqual([]);
  });

  it('shows JSON as the program writes it', () => {
    const [example] = [...README.matchAll(/```json\n(.*?)```/gs)].map(([, text]) => text);
    expect(shapeOf(JSON.parse(example ?? ''))).toEqual(shapeOf(changesJson(SAMPLE_RESULT, 'signed')));
  });
});

describe('the list of error codes', () => {
  it('is what the tables of errors say (renewed by: npx vitest run test/documentation/documentation.test.ts -u)', async () => {
    await expect(await errorReference(path.join(ROOT, 'src'))).toMatchFileSnapshot('../../src/errors/README.md');
  });
});

describe.each(markdownFiles())('%s', (file) => {
  const text = read(file);

  it('names only npm scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const named = [...text.matchAll(/\bnpm (?:run )?((?<=run )[\w:]+|test)\b/g)].map(([, name]) => name);
    expect(missing(named, Object.keys(scripts))).toEqual([]);
  });

  it('links only to what is there', () => {
    expect(relativeLinks(text).filter((link) => !resolves(file, link))).toEqual([]);
  });
});

const SIGNED: SignedOutcome = {
  path: 'app.exe',
  output: 'app.exe',
  format: 'pe',
  status: 'signed',
  algorithm: 'SHA256',
  record: 'id',
  reported: true,
  reused: false,
  timestamp: '2026-11-21T13:30:00Z',
  timestampAuthority: 'http://timestamp.example.com/',
  replaced: [],
  bytes: 1,
  milliseconds: 1,
  warnings: [],
};
const FAILED: FailedOutcome = {
  path: 'notes.txt',
  format: null,
  status: 'failed',
  error: fileErrors('unsupported-format', { looksLike: '', formats: '' }),
  record: null,
  kept: false,
  warnings: [],
};
const SAMPLE_RESULT = {
  files: [SIGNED, FAILED],
  warnings: [],
  summary: { signed: 1, skipped: 0, failed: 1, planned: 0 },
};

/** The keys of a JSON value with the types below them: equal for two documents of the same shape. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (value === null || typeof value !== 'object') return value === null ? 'null' : typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shapeOf(inner)]));
}

/** Runs the command line in this process; gives what it wrote to standard output. */
async function standardOutputOf(argv: readonly string[]): Promise<string> {
  let text = '';
  const stdout = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk);
      done();
    },
  });
  const exit = (exitCode: number): never => {
    throw new Error(`ended with ${exitCode}`);
  };
  const { stdin, stderr } = process;
  const nothing = () => undefined;
  const io = {
    stdin,
    stdout,
    stderr,
    env: {},
    onSignal: () => nothing,
    outputFault: nothing,
    exit,
    onSuccess: nothing,
  };
  await main(argv, io);
  return text;
}

interface Option {
  readonly flags: string | undefined;
  readonly environment: string | undefined;
  readonly default: string | undefined;
}

function optionsIn(help: string): Option[] {
  const section = /^Options:\n(.*?)\n\n/ms.exec(help)?.[1] ?? '';
  return section
    .split(/\n(?= {2}-)/)
    .map((entry) => {
      const [, flags, meaning = ''] = /^ {2}(\S.*?) {2,}(.*)$/s.exec(entry) ?? [];
      const onOneLine = meaning.replace(/\s+/g, ' ');
      return {
        flags,
        environment: /\[(\w+)\]/.exec(onOneLine)?.[1],
        default: /\(default (\w+)\)/.exec(onOneLine)?.[1],
      };
    })
    .filter(({ flags }) => flags !== '-h, --help');
}

function byFlags(options: readonly Option[]): Option[] {
  return options.toSorted((a, b) => (a.flags ?? '').localeCompare(b.flags ?? ''));
}

/** The rows of the first table below a heading, as cells, without the head. */
/** Below the heading, the first one whose first column is headed so. */
function tableIn(heading: string, column = ''): string[][] {
  const [, rest = ''] = README.split(`\n## ${heading}\n`);
  const tables = rest.match(/(?:^\|.*\n)+/gm) ?? [];
  const table = tables.find((one) => one.startsWith(`| ${column}`)) ?? '';
  const rows = table.trimEnd().split('\n').slice(2);
  return rows.map((row) =>
    row
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim()),
  );
}

/** What a cell holds as code and nothing else. */
function code(cell: string | undefined): string | undefined {
  return /^`([^`]+)`$/.exec(cell ?? '')?.[1];
}

/** Variables of this program; constants that build.mjs puts in have names of the same kind, and belong to no environment. */
function ownVariables(text: string): string[] {
  const names = text.match(/\bCODESIGN_[A-Z\d]+(?:_[A-Z\d]+)*\b/g) ?? [];
  return [...new Set(names.filter((name) => !name.startsWith('CODESIGN_REMOTE_')))];
}

/** Also those of others, such as Node's. */
function variablesReadByName(source: string): string[] {
  return [...source.matchAll(/\benv(?:ironment)?\.([A-Z][A-Z_\d]+)\b/g)].map(([, name = '']) => name);
}

function sourceText(folder: string): string {
  return filesBelow(folder)
    .filter((file) => file.endsWith('.ts'))
    .map(read)
    .join('\n');
}

function markdownFiles(): string[] {
  const folders = ['.github', 'fixtures', 'server', 'src', 'test'].flatMap(filesBelow);
  return ['README.md', ...folders.filter((file) => file.endsWith('.md'))];
}

function relativeLinks(text: string): string[] {
  const withoutCode = text.replace(/```.*?```/gs, '').replace(/`[^`\n]*`/g, '');
  const links = [...withoutCode.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  return links.filter((link) => !/^[a-z]+:/.test(link));
}

/** Whether the file is there, and in it the heading that the link names. */
function resolves(from: string, link: string): boolean {
  const [target = '', heading] = link.split('#');
  const file = target === '' ? from : path.join(path.dirname(from), target);
  if (!existsSync(path.join(ROOT, file))) return false;
  return heading === undefined || headingsOf(read(file)).includes(heading);
}

/** Headings as GitHub names them in links. */
function headingsOf(text: string): string[] {
  const headings = [...text.replace(/```.*?```/gs, '').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function filesBelow(folder: string): string[] {
  return readdirSync(path.join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(ROOT, path.join(entry.parentPath, entry.name)))
    .filter((file) => !/(^|[\\/])(node_modules|dist)[\\/]/.test(file));
}

function read(file: string): string {
  return readFileSync(new URL(file, pathToFileURL(`${ROOT}/`)), 'utf8');
}

function missing(wanted: readonly (string | undefined)[], among: readonly string[]): (string | undefined)[] {
  return wanted.filter((name) => name === undefined || !among.includes(name));
}

function numerically(a: number, b: number): number {
  return a - b;
}
