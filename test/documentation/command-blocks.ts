/**
 * The code blocks and tables of Markdown pages. A shell block has the word `not-run` after its language, or the word `recipe` if a test of
 * recipes runs it. A long test runs all other shell blocks.
 */

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { REPOSITORY } from '../support/programs/cli.ts';

export interface CodeBlock {
  readonly page: string;
  readonly line: number;
  /** The closest heading above the block. */
  readonly section: string;
  readonly language: string;
  readonly isRun: boolean;
  readonly text: string;
}

/** The pages of the package. */
export const USER_PAGES = ['README.md', ...pagesBelow('docs')];
/** All pages with instructions. */
export const PAGES = [...USER_PAGES, ...['.github', 'server', 'src', 'test'].flatMap(pagesBelow)];

export function blocksIn(pages: readonly string[]): readonly CodeBlock[] {
  return pages.flatMap((page) => {
    const text = readFileSync(path.join(REPOSITORY, page), 'utf8');
    return [...text.matchAll(/^```(\S*)(.*)\n([\s\S]*?)^```$/gm)].map(
      ({ 1: language = '', 2: mark = '', 3: code = '', index }) => ({
        page,
        line: text.slice(0, index).split('\n').length,
        section: [...text.slice(0, index).matchAll(/^#+ (.*)$/gm)].at(-1)?.[1] ?? '',
        language,
        isRun: language === 'sh' && mark.trim() === '',
        text: code,
      }),
    );
  });
}

/** The arguments of every `codesign-remote` in a script, up to the end of that command. */
export function commandsIn(script: string): readonly (readonly string[])[] {
  const lines = script.split('\n').map((line) => line.replace(/\s#\s.*$/, ''));
  return lines.flatMap((line) =>
    line
      .split(/(?:^|[\s'">])codesign-remote (?=[a-z-])/)
      .slice(1)
      .map(argumentsOf),
  );
}

/** The cells of a row of a table. */
export function cellsOf(row: string): string[] {
  const cells = row.slice(1, -1).split(/(?<!\\)\|/);
  return cells.map((cell) => cell.trim());
}

function argumentsOf(text: string): readonly string[] {
  const words = text.match(/"[^"]*"|'[^']*'|[|<>&;)]|[^\s|<>&;)"']+/g) ?? [];
  const end = words.findIndex((word) => /^[|<>&;)]$/.test(word));
  return words.slice(0, end < 0 ? undefined : end).map((word) => word.replace(/^(["'])(.*)\1$/, '$2'));
}

function pagesBelow(folder: string): string[] {
  return filesBelow(folder).filter((file) => file.endsWith('.md'));
}

/** Files of the repository, without what is built or installed. */
export function filesBelow(folder: string): string[] {
  return readdirSync(path.join(REPOSITORY, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(REPOSITORY, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, '/'))
    .filter((file) => !/(^|\/)(node_modules|dist)\//.test(file))
    .sort();
}
