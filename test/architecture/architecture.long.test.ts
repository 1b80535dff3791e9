/** Checks the layers with dependency-cruiser in a copy of the source, next to planted violations that prove that each is found. */

import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cruise, FOLDERS, plantedTree } from './cruise.ts';
import { ROOT, typescriptFiles } from './source-files.ts';
import { unboundedSpreads } from './spread-arguments.ts';

const circleIn = (folder: string) => ({
  [`${folder}/planted-circle-a.ts`]: "import type { B } from './planted-circle-b.ts';\nexport type A = B | 1;\n",
  [`${folder}/planted-circle-b.ts`]: "import type { A } from './planted-circle-a.ts';\nexport type B = A | 2;\n",
});

const PLANTED: Readonly<Record<string, string>> = {
  'src/errors/planted-upward.ts': "import type { Format } from '../format/format.ts';\nexport type Planted = Format;\n",
  ...circleIn('src/bytes'),
  ...circleIn('server/conformance'),
  'src/formats/planted/sibling.ts': "export { pe } from '../pe/index.ts';\n",
  'src/formats/planted/disk.ts': "export { readFileSync } from 'node:fs';\n",
  'src/signing/planted-format.ts': "export { pe } from '../formats/pe/index.ts';\n",
  'server/src/planted-client.ts': "export { CodesignError } from '../../src/errors/codesign-error.ts';\n",
  'src/cli/planted-test.ts': "export { Planted } from '../../test/planted.ts';\n",
  'test/planted.ts': 'export const Planted = 1;\n',
  'src/cli/planted-missing.ts': "export { nothing } from './not-there.ts';\n",
};

let tree: string;
let result: Awaited<ReturnType<typeof cruise>>;
beforeAll(async () => {
  tree = await plantedTree(PLANTED);
  result = await cruise(tree);
});
afterAll(() => rm(tree, { recursive: true, force: true }));

describe('the source', () => {
  it('imports from lower layers only', () => {
    expect(result.violations.filter(({ from }) => !from.includes('planted'))).toEqual([]);
  });

  it('is read whole: next to the wrong TypeScript the tool reads nothing and reports success', () => {
    const own = result.modules.filter((name) => !name.includes('planted'));
    expect(own.sort()).toEqual(typescriptFiles(...FOLDERS).sort());
  });

  it('passes no unbounded list as arguments', () => {
    const found = typescriptFiles('src', 'server/src').flatMap((file) =>
      unboundedSpreads(readFileSync(path.join(ROOT, file), 'utf8')).map((line) => `${file}:${line}`),
    );
    expect(found).toEqual([]);
  });
});

it.each([
  ['layer-errors', 'src/errors/planted-upward.ts', 'src/format/format.ts'],
  ['no-circles', 'src/bytes/planted-circle-a.ts', 'src/bytes/planted-circle-b.ts'],
  ['no-circles', 'server/conformance/planted-circle-a.ts', 'server/conformance/planted-circle-b.ts'],
  ['a-format-knows-no-other', 'src/formats/planted/sibling.ts', 'src/formats/pe/index.ts'],
  ['formats-do-no-io', 'src/formats/planted/disk.ts', 'fs'],
  ['signing-names-no-format', 'src/signing/planted-format.ts', 'src/formats/pe/index.ts'],
  ['server-shares-only-messages', 'server/src/planted-client.ts', 'src/errors/codesign-error.ts'],
  ['source-imports-no-test', 'src/cli/planted-test.ts', 'test/planted.ts'],
  ['resolvable', 'src/cli/planted-missing.ts', './not-there.ts'],
])('a planted violation of %s is found: %s', (rule, from, to) => {
  expect(result.violations).toContainEqual({ rule, from, to, severity: 'error' });
});
