/** `explain` can read its whole page. Its output is recorded in sessions/recorded/cases/explain.txt. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { REPOSITORY } from '../../../support/programs/cli.ts';

const PAGE = readFileSync(join(REPOSITORY, 'docs/errors.md'), 'utf8');

it('can read every entry of the page', () => {
  const rows = PAGE.split('\n').filter((line) => line.startsWith('| <a id='));
  expect(rows.length).toBeGreaterThan(300);
  expect(rows.filter((row) => row.slice(1, -1).split(/(?<!\\)\|/).length !== 4)).toEqual([]);
});
