/** The fault matrix: all cases of every row. */

import { expect, it, onTestFinished } from 'vitest';
import { isInSample } from '../../support/sample.ts';
import { useServer } from '../../support/services/shared-server.ts';
import { testCases } from './matrix.ts';
import { casesOf, ROWS } from './rows.ts';
import { FORMAT_IDS, type FormatId, INPUTS, WAYS_OF_WRITING } from './stage.ts';
import { traceSigning } from './trace.ts';

await testCases(ROWS.flatMap(casesOf).filter((_, index) => isInSample(index)));

it('has a format for each order of calls with which one is signed', async () => {
  const server = await useServer({ bits: 2048 });
  onTestFinished(async () => void (await server.stop()));
  const orderOf = async (format: FormatId): Promise<string> => {
    const { extension, make } = INPUTS[format];
    return orderOfCalls(await traceSigning({ name: `app.${extension}`, bytes: make(), env: server.env }));
  };
  const known = await Promise.all(WAYS_OF_WRITING.map(orderOf));
  for (const format of FORMAT_IDS) expect(known, format).toContain(await orderOf(format));
});

/** Of those for the file, its copy, their folder and the journal; several of one kind in a row as one. */
function orderOfCalls(trace: readonly string[]): string {
  const kinds = trace.map((call) => call.replace(/:\d+$/, '')).filter((kind) => !/:(?:other|none|probe)$/.test(kind));
  return kinds.filter((kind, index) => kind !== kinds[index - 1]).join(' ');
}
