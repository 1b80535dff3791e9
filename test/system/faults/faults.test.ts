/** The core of the fault matrix, and a check that the matrix leaves no step out. */

import { readFile } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { fixture } from '../../support/programs/cli.ts';
import { useServer } from '../../support/services/shared-server.ts';
import { testCases } from './matrix.ts';
import { casesOf, ROWS } from './rows.ts';
import { traceSigning } from './trace.ts';

/** What changes something on a disk, or makes a change last. */
const CHANGES =
  /^(?:create|write|writeFile|mkdir|rename|link|unlink|truncate|chmod|sync|datasync|insert|update|delete|commit):(?!other)/;

await testCases(ROWS.filter(({ core }) => core).flatMap((row) => casesOf(row).slice(0, 1)));

it('has a row for every call of the file system with which signing changes something', async () => {
  const server = await useServer({ bits: 2048 });
  onTestFinished(async () => void (await server.stop()));
  const bytes = await readFile(fixture('pe/hello.exe'));
  const trace = await traceSigning({ name: 'app.exe', bytes, toOutput: true, env: server.env });
  const calls = trace.filter((call) => CHANGES.test(call));
  const kinds = new Set(calls.map(kindOf));
  expect(kinds.size).toBeGreaterThan(10);
  const known = ROWS.flatMap(({ files = '' }) => files.split(' ').map(kindOf));
  expect([...kinds].filter((kind) => !known.includes(kind))).toEqual([]);
});

function kindOf(call: string): string {
  return call.replace(/^(\w+):([\w-]+):.*$/, '$1:$2');
}
