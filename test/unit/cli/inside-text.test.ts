import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import type { Io } from '../../../src/cli/io.ts';
import { printClassified } from '../../../src/cli/output/inside-text.ts';
import type { ClassifiedFile } from '../../../src/policy/classified-file.ts';

it.each([
  ['package', 'covered by the signature of its package'],
  ['catalog', 'listed in the catalog of its package'],
] as const)('says that the signature of a %s covers an unsigned program', (covered, text) => {
  const file: ClassifiedFile = {
    path: ['app.msix', 'app.exe'],
    pathInFolder: 'app.msix',
    kind: 'pe',
    verified: {
      path: 'app.msix!/app.exe',
      format: 'pe',
      verdict: 'unsigned',
      error: undefined,
      findings: [],
      signatures: [],
    },
    notOpened: undefined,
    coveredBy: covered,
    sameAs: undefined,
    rule: undefined,
    result: 'good',
    cause: undefined,
    isFailure: false,
    covered,
  };
  const stdout = new PassThrough();
  printClassified([file], [], { verbose: true }, { stdout, env: {} } as unknown as Io);
  expect(String(stdout.read())).toBe(`good          app.msix!/app.exe: ${text}\n`);
});
