/** The fault matrix: every row with all its variants and formats, and the table of test/README.md that they make. */

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { testCases, WITHOUT_DISKS } from './matrix.ts';
import { casesOf, furtherCasesOf, ROWS } from './rows.ts';
import { tableOf, withTable } from './table.ts';

const README = new URL('../../README.md', import.meta.url);

const { seen } = testCases(ROWS.flatMap((row) => [...casesOf(row), ...furtherCasesOf(row)]));

it.skipIf(WITHOUT_DISKS)(
  'is the table of test/README.md (renewed by: npx vitest run --config vitest.long.config.ts test/system/faults -u)',
  async () => {
    const document = readFileSync(README, 'utf8');
    await expect(withTable(document, tableOf(ROWS, seen))).toMatchFileSnapshot('../../README.md');
  },
);
