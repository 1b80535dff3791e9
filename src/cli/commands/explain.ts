import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { assetOf } from '../../bytes/executable.ts';
import { didYouMean } from '../../options/suggest.ts';
import { DOCS_FOLDER } from '../docs-folder.ts';
import { cliErrors } from '../errors.ts';
import type { Io } from '../io.ts';
import { field } from '../output/text-layout.ts';

const PAGE = path.join(DOCS_FOLDER, 'errors.md');
const NAME_COLUMNS = 11;

export async function explain(code: string, io: Io): Promise<number> {
  const rows = await rowsOf(PAGE);
  const exitCodes = new Map(
    rows.filter((row) => row.length === 3).map(([category = '', exitCode = '']) => [category, exitCode]),
  );
  // The table may list an error code in two categories.
  const entries = rows.filter((row) => row.length === 4 && row[0] === code);
  if (entries.length === 0) {
    throw cliErrors('error-code-unknown', {
      code,
      suggestion: didYouMean(code, await errorCodes()),
      folder: DOCS_FOLDER,
    });
  }
  for (const [, category = '', cause = '', remedy = ''] of entries) {
    const lines = [
      code,
      ...field('cause', cause, 2, NAME_COLUMNS),
      ...(remedy === '' ? [] : field('remedy', remedy, 2, NAME_COLUMNS)),
      ...field('exit code', `${exitCodes.get(category)} (${category})`, 2, NAME_COLUMNS),
    ];
    io.stdout.write(`${lines.join('\n')}\n`);
  }
  return 0;
}

export async function errorCodes(): Promise<readonly string[]> {
  const codes = (await rowsOf(PAGE)).flatMap((row) => (row.length === 4 ? row.slice(0, 1) : []));
  return [...new Set(codes)];
}

export async function printManual(io: Io): Promise<number> {
  const page = path.join(DOCS_FOLDER, '../dist/man/codesign-remote.1');
  io.stdout.write(assetOf('codesign-remote.1') ?? (await readFile(page, 'utf8')));
  return 0;
}

async function rowsOf(page: string): Promise<readonly (readonly string[])[]> {
  const text = assetOf('errors.md') ?? (await readFile(page, 'utf8'));
  const lines = text.split('\n').filter((line) => /^\| (<a id="[\w-]+"><\/a>)?`/.test(line));
  return lines.map((line) =>
    line
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) =>
        cell
          .trim()
          .replace(/^(?:<a id="[\w-]+"><\/a>)?`(.*)`$/, '$1')
          .replace(/\\([|<>*])/g, '$1'),
      ),
  );
}
