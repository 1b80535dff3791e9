/** House rules that a test can hold cheaply; the linter and the compiler hold the others. */

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ROOT, typescriptFiles } from './source-files.ts';

const SOURCES = typescriptFiles('src', 'server/src');
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const breaking = (isBroken: (text: string) => boolean): string[] => SOURCES.filter((file) => isBroken(read(file)));

it('the layout has only the agreed folders at the top level', () => {
  const generated = ['node_modules', 'dist', 'schema', 'coverage', 'release'];
  const folders = readdirSync(ROOT, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && !generated.includes(entry.name))
    .map((entry) => entry.name);
  expect(folders.sort()).toEqual(['bin', 'docs', 'fixtures', 'scripts', 'server', 'src', 'test']);
});

it('every folder of source and tests holds at most 16 files next to its subfolders', () => {
  const folders = ['src', 'server', 'test'].flatMap((folder) => [folder, ...subfolders(folder)]);
  const over = folders.filter((folder) => filesIn(folder) > 16);
  // One recorded session for each script.
  expect(over.filter((folder) => !/\/recorded\//.test(folder))).toEqual([]);
});

it('every test file that replaces modules has a name that says so, because the others share loaded modules', () => {
  const mocking = typescriptFiles('test', 'server/test').filter((file) => /\bvi\.(do)?mock\(/i.test(read(file)));
  expect(mocking.filter((file) => !/\.(mocked|long)\.test\.ts$/.test(file))).toEqual([]);
});

describe('every source file', () => {
  it('has at most 300 lines', () => {
    expect(breaking((text) => text.trimEnd().split('\n').length > 300)).toEqual([]);
  });

  it('contains no any, non-null assertion or switched-off check', () => {
    expect(breaking((text) => /(:|\bas|<|\|)\s*any\b(?!\w)/.test(withoutComments(text)))).toEqual([]);
    expect(breaking((text) => /@ts-(ignore|expect-error|nocheck)/.test(text))).toEqual([]);
  });

  it('awaits its result while a resource that it opened is in use', () => {
    // Without await the scope ends, and with it the file or connection, before the promise has done its work.
    const functions = (text: string) => text.split(/^(?=\S)/m).filter((part) => /\bawait using\b/.test(part));
    const returns = (part: string) => [...part.matchAll(/^ +return (?!await\b)[^;{]*\(/gm)];
    expect(breaking((text) => functions(text).some((part) => returns(part).length > 0))).toEqual([]);
  });

  it('has a name in kebab-case', () => {
    expect(SOURCES.filter((file) => !/^[a-z\d]+(-[a-z\d]+)*\.ts$/.test(path.basename(file)))).toEqual([]);
  });
});

describe('the error tables', async () => {
  const files = typescriptFiles('src').filter((file) => /= defineErrors\(/.test(read(file)));
  // Within one file a code may come under two categories: "unauthorized" as an HTTP status and as a business code.
  const codes = (await Promise.all(files.map(codesOf))).flatMap((ofFile) => [...new Set(ofFile)]);

  it('exist', () => {
    expect(files.length).toBeGreaterThan(3);
    expect(codes.length).toBeGreaterThan(20);
  });

  it.each(files)('of %s is in a file named errors.ts', (file) => {
    expect(path.basename(file)).toBe('errors.ts');
  });

  it('hold kebab-case codes', () => {
    expect(codes.filter((code) => !/^[a-z][a-z\d]*(-[a-z\d]+)*$/.test(code))).toEqual([]);
  });

  it('share no code', () => {
    expect(codes.filter((code, index) => codes.indexOf(code) !== index)).toEqual([]);
  });
});

function subfolders(folder: string): string[] {
  return readdirSync(path.join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => path.relative(ROOT, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, '/'))
    .filter((name) => !/(^|\/)(node_modules|dist)(\/|$)/.test(name));
}

function filesIn(folder: string): number {
  return readdirSync(path.join(ROOT, folder), { withFileTypes: true }).filter((entry) => entry.isFile()).length;
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
}

/** The codes of all tables that a module exports. */
async function codesOf(file: string): Promise<string[]> {
  const module: Record<string, unknown> = await import(pathToFileURL(path.join(ROOT, file)).href);
  return Object.values(module).flatMap((value) =>
    typeof value === 'function' && 'table' in value && typeof value.table === 'object' && value.table !== null
      ? Object.keys(value.table)
      : [],
  );
}
