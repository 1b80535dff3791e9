/** A package that signtool signed (CODESIGN_TEST_PAIRS), with the catalog of its programs. */

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { memorySource } from '../../../src/bytes/byte-source.ts';
import { createWalker } from '../../../src/containers/walk.ts';
import { zip } from '../../../src/formats/plain-zip/index.ts';
import { zipOf } from '../../support/containers/make-zip.ts';
import { fixture } from '../../support/programs/cli.ts';
import { INTEGRITY_ONLY } from '../verifying/support/integrity-only.ts';

const { CODESIGN_TEST_PAIRS: pairs = '' } = process.env;

it.skipIf(pairs === '')('its catalog covers its program, and no other one of that name', async () => {
  const signed = await readFile(path.join(pairs, 'generated-signed/msix/sample.msix'));
  const other = await readFile(fixture('pe/hello.exe'));
  const files = await filesIn(signed);
  expect(await programsIn(signed)).toEqual([['noop.exe', 'unsigned', 'catalog']]);
  // The signature of the package is broken in both, and the one of the catalog is not.
  const more = zipOf({ 'other.exe': other, ...files });
  expect(await programsIn(more)).toEqual([
    ['other.exe', 'broken', undefined],
    ['noop.exe', 'unsigned', 'catalog'],
  ]);
  const changed = zipOf({ ...files, 'noop.exe': other, 'Assets/StoreLogo.png': zipOf({}) });
  expect(await programsIn(changed)).toEqual([
    ['noop.exe', 'broken', undefined],
    ['Assets/StoreLogo.png', 'unsigned', undefined],
  ]);
});

async function programsIn(bytes: Buffer) {
  const limits = { depth: 8, files: 1000, inflated: 2 ** 30 };
  const [, ...inside] = await createWalker(INTEGRITY_ONLY, limits)(memorySource(bytes), 'a.msix');
  const programs = inside.filter(({ kind }) => kind === 'pe' || kind === 'zip');
  return programs.map(({ path, verified, coveredBy }) => [path.at(-1), verified?.verdict, coveredBy]);
}

async function filesIn(bytes: Buffer): Promise<Record<string, Uint8Array>> {
  const { contents } = await zip.open(memorySource(bytes));
  const files: Record<string, Uint8Array> = {};
  for await (const { name, size, open } of contents?.entries() ?? []) files[name] = await (await open()).read(0, size);
  return files;
}
