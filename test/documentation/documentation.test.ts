/** The documents match the program: environment variables, exit codes, JSON, error codes, scripts and links exist. */

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { PROGRAM } from '../../src/cli/command-table.ts';
import {
  EXIT_MIXED,
  EXIT_NOT_VERIFIED,
  EXIT_SIGINT,
  EXIT_SIGTERM,
  EXIT_SUCCESS,
  exitCodeFor,
} from '../../src/errors/exit-codes.ts';
import { cliReference } from './cli-reference.ts';
import { cellsOf, filesBelow } from './command-blocks.ts';
import { errorReference, NAMES_OF_CATEGORIES } from './error-reference.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The texts for users: the README and the pages of docs/. */
const DOCUMENTS = ['README.md', ...filesBelow('docs')].map(read).join('\n');

describe('the documents', () => {
  it('list every exit code, and no other', () => {
    const fromErrors = NAMES_OF_CATEGORIES.flatMap((name) => (name === 'warning' ? [] : exitCodeFor([name])));
    const known = new Set([EXIT_SUCCESS, ...fromErrors, EXIT_NOT_VERIFIED, EXIT_MIXED, EXIT_SIGINT, EXIT_SIGTERM]);
    const documented = tableIn('docs/output.md', 'Exit codes').flatMap(([codes]) =>
      (codes ?? '').split(', ').map(Number),
    );
    expect(documented.sort()).toEqual([...known].sort());
  });

  it('name every environment variable that the source reads', () => {
    const read = [...ownVariables(sourceText('src')), ...variablesReadByName(sourceText('src'))];
    expect(read).toContain('NODE_TLS_REJECT_UNAUTHORIZED');
    expect(read.filter((name) => !DOCUMENTS.includes(`\`${name}`))).toEqual([]);
  });

  it('name no environment variable that nothing reads', () => {
    const known = ownVariables(sourceText('src') + sourceText('server/src') + read('test/run-long.mjs'));
    expect(missing(ownVariables(DOCUMENTS), known)).toEqual([]);
  });

  it('show JSON as the program writes it', () => {
    const [example] = [...read('docs/output.md').matchAll(/```json\n(.*?)```/gs)].map(([, text]) => text);
    const [signed, failed] = [
      recordedDocument('project', 'sign --json -p work -e alternate app.exe'),
      recordedDocument('sign-bad-input', 'sign --json missing.exe'),
    ];
    const recorded = { ...failed, files: [...signed.files, ...failed.files] };
    expect(shapeOf(JSON.parse(example ?? ''))).toEqual(shapeOf(recorded));
  });
});

describe('the README', () => {
  it('has at most 170 lines', () => {
    expect(read('README.md').split('\n').length).toBeLessThanOrEqual(170);
  });

  it.each(['README.md', ...filesBelow('docs').filter((file) => file.endsWith('.md'))])(
    '%s links only to files of the package',
    (file) => {
      const { files } = JSON.parse(read('package.json')) as { files: string[] };
      const shipped = new RegExp(`^(?:README\\.md|LICENSE|(?:${files.join('|')})/.*)$`);
      const targets = relativeLinks(read(file)).map((link) =>
        path.posix.join(path.posix.dirname(file), link.split('#')[0] ?? ''),
      );
      expect(targets.filter((target) => target !== '.' && target !== 'docs' && !shipped.test(target))).toEqual([]);
    },
  );
});

it('the reference of the command line matches the tables of commands and options (renewed by: npx vitest run test/documentation -u)', async () => {
  await expect(cliReference(PROGRAM)).toMatchFileSnapshot('../../docs/cli.md');
});

it('the list of error codes matches the tables of errors (renewed by: npx vitest run test/documentation/documentation.test.ts -u)', async () => {
  await expect(await errorReference(path.join(ROOT, 'src'))).toMatchFileSnapshot('../../docs/errors.md');
});

describe.each(markdownFiles())('%s', (file) => {
  const text = read(file);

  it('names only npm scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const named = [...text.matchAll(/\bnpm (?:run )?((?<=run )[\w:]+|test)\b/g)].map(([, name]) => name);
    expect(missing(named, Object.keys(scripts))).toEqual([]);
  });

  it('contains no broken link', () => {
    expect(relativeLinks(text).filter((link) => !resolves(file, link))).toEqual([]);
  });
});

/** Returns the JSON that a command printed in a recorded session. */
function recordedDocument(session: string, command: string) {
  const text = read(`test/system/cli/sessions/recorded/cases/${session}.txt`);
  const [, output = ''] = text.split(`$ codesign-remote ${command}\nstandard output:\n`);
  const [json = ''] = output.split('\nstandard error:');
  return JSON.parse(json.replaceAll('<n>', '1'));
}

/** The keys of a JSON value with the types below them: equal for two documents of the same shape. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (value === null || typeof value !== 'object') return value === null ? 'null' : typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shapeOf(inner)]));
}

/** The rows of the first table below the heading, as cells, without the head. */
function tableIn(file: string, heading: string): string[][] {
  const [, rest = ''] = read(file).split(`\n## ${heading}\n`);
  const [table = ''] = /(?:^\|.*\n)+/m.exec(rest) ?? [];
  return table.trimEnd().split('\n').slice(2).map(cellsOf);
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
  const folders = ['.github', 'docs', 'fixtures', 'server', 'src', 'test'].flatMap(filesBelow);
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

function read(file: string): string {
  return readFileSync(new URL(file, pathToFileURL(`${ROOT}/`)), 'utf8');
}

function missing(wanted: readonly (string | undefined)[], among: readonly string[]): (string | undefined)[] {
  return wanted.filter((name) => name === undefined || !among.includes(name));
}
