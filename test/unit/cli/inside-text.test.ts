import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import type { Io } from '../../../src/cli/io.ts';
import { printClassified } from '../../../src/cli/output/inside-text.ts';
import { createClassifier } from '../../../src/policy/rules.ts';
import { file } from '../policy/file-of-run.ts';

it.each([
  ['package', 'covered by the signature of its package'],
  ['catalog', 'listed in the catalog of its package'],
] as const)('says that the signature of a %s covers an unsigned program', (coveredBy, text) => {
  const unsigned = file('', { verdict: 'unsigned', path: ['app.msix', 'app.exe'], coveredBy });
  const classified = createClassifier(undefined, '2026-06-15').classify(unsigned);
  const stdout = new PassThrough();
  printClassified([classified], [], { verbose: true }, { stdout, env: {} } as unknown as Io);
  expect(String(stdout.read())).toBe(`good          app.msix!/app.exe: ${text}\n`);
});
