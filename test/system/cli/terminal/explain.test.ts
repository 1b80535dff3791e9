import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { REPOSITORY, runCliProcess } from '../../../support/programs/cli.ts';

const PAGE = readFileSync(join(REPOSITORY, 'docs/errors.md'), 'utf8');

it('explains a code with both of its categories, and that of defects, and offers no cell of another table', async () => {
  const { code, stdout } = await runCliProcess(['explain', 'unauthorized']);
  expect(code).toBe(0);
  expect(stdout.match(/exit code .*/g)).toEqual(['exit code  4 (http)', 'exit code  5 (business)']);
  expect(await runCliProcess(['explain', 'usage'])).toMatchObject({ code: 2 });
  const ofDefects = await runCliProcess(['explain', 'internal']);
  expect(ofDefects.stdout).toContain('exit code  1 (internal)');
});

it('can read every entry of the page', () => {
  const rows = PAGE.split('\n').filter((line) => line.startsWith('| `'));
  const cells = rows.map((row) => row.slice(1, -1).split(/(?<!\\)\|/).length);
  expect(cells.filter((count) => count !== 3 && count !== 4)).toEqual([]);
});
