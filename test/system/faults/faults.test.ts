/** The core of the fault matrix, as the table in test/README.md lists it, and a check that the matrix leaves no step out. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fixture, REPOSITORY } from '../../support/programs/cli.ts';
import { useServer } from '../../support/services/shared-server.ts';
import { testCases } from './matrix.ts';
import { casesOf, ROWS } from './rows.ts';
import { lineOf } from './table.ts';
import { traceSigning } from './trace.ts';

const CORE = ROWS.filter(({ core }) => core);
/** What changes something on a disk, or makes a change last. */
const CHANGES =
  /^(?:create|write|writeFile|mkdir|rename|link|unlink|truncate|chmod|sync|datasync|insert|update|delete|commit):(?!other)/;

const { seen } = testCases(CORE.flatMap((row) => casesOf(row).slice(0, 1)));

it('matches the table of test/README.md', async () => {
  const lines = (await readFile(join(REPOSITORY, 'test', 'README.md'), 'utf8')).split('\n');
  expect(seen.length).toBeGreaterThan(3);
  for (const one of seen) expect(lines).toContain(lineOf(one.row, [one]));
});

it('has a row for every call of the file system with which signing changes something', async () => {
  const server = await useServer({ bits: 2048 });
  try {
    const bytes = await readFile(fixture('pe/hello.exe'));
    const trace = await traceSigning({ name: 'app.exe', bytes, toOutput: true, env: server.env });
    const calls = trace.filter((call) => CHANGES.test(call));
    const kinds = new Set(calls.map(kindOf));
    expect(kinds.size).toBeGreaterThan(10);
    const known = ROWS.flatMap(({ files = '' }) => files.split(' ').map(kindOf));
    expect([...kinds].filter((kind) => !known.includes(kind))).toEqual([]);
  } finally {
    await server.stop();
  }
});

function kindOf(call: string): string {
  return call.replace(/^(\w+):([\w-]+):.*$/, '$1:$2');
}
