/** The fault matrix: all cases of every row, and the table of test/README.md that they make. */

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { isInSample, ONE_IN } from '../../support/sample.ts';
import { useServer } from '../../support/services/shared-server.ts';
import { testCases, WITHOUT_DISKS } from './matrix.ts';
import { casesOf, ROWS } from './rows.ts';
import { FORMAT_IDS, type FormatId, INPUTS, WAYS_OF_WRITING } from './stage.ts';
import { tableOf, withTable } from './table.ts';
import { traceSigning } from './trace.ts';

const README = new URL('../../README.md', import.meta.url);

const { seen } = testCases(ROWS.flatMap(casesOf).filter((_, index) => isInSample(index)));

it.skipIf(WITHOUT_DISKS || ONE_IN > 1)(
  'is the table of test/README.md (renewed by: npx vitest run --config vitest.long.config.ts test/system/faults -u)',
  async () => {
    const document = readFileSync(README, 'utf8');
    await expect(withTable(document, tableOf(ROWS, seen))).toMatchFileSnapshot('../../README.md');
  },
);

it('has a format for each order of calls with which one is signed', async () => {
  const server = await useServer({ bits: 2048 });
  const orderOf = async (format: FormatId): Promise<string> => {
    const { extension, make } = INPUTS[format];
    return orderOfCalls(await traceSigning({ name: `app.${extension}`, bytes: make(), env: server.env }));
  };
  try {
    const known = await Promise.all(WAYS_OF_WRITING.map(orderOf));
    for (const format of FORMAT_IDS) expect(known, format).toContain(await orderOf(format));
  } finally {
    await server.stop();
  }
});

/** Of those for the file, its copy, their folder and the journal; several of one kind in a row as one. */
function orderOfCalls(trace: readonly string[]): string {
  const kinds = trace.map((call) => call.replace(/:\d+$/, '')).filter((kind) => !/:(?:other|none|probe)$/.test(kind));
  return kinds.filter((kind, index) => kind !== kinds[index - 1]).join(' ');
}
