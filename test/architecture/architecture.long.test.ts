/** Checks the layers with dependency-cruiser in a copy of the source, next to planted violations that prove that each is found. */

import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CruiseResult, cruise, FOLDERS, plantedTree } from './cruise.ts';
import { typescriptFiles } from './source-files.ts';

const PLANTED: Readonly<Record<string, string>> = {
  'src/errors/planted-upward.ts': "import type { Format } from '../format/format.ts';\nexport type Planted = Format;\n",
  'src/bytes/planted-circle-a.ts': "import type { B } from './planted-circle-b.ts';\nexport type A = B | 1;\n",
  'src/bytes/planted-circle-b.ts': "import type { A } from './planted-circle-a.ts';\nexport type B = A | 2;\n",
  'server/conformance/planted-circle-a.ts': "import type { B } from './planted-circle-b.ts';\nexport type A = B | 1;\n",
  'server/conformance/planted-circle-b.ts': "import type { A } from './planted-circle-a.ts';\nexport type B = A | 2;\n",
  'src/formats/planted/sibling.ts': "export { pe } from '../pe/index.ts';\n",
  'src/formats/planted/disk.ts': "export { readFileSync } from 'node:fs';\n",
  'src/signing/planted-format.ts': "export { pe } from '../formats/pe/index.ts';\n",
  'server/src/planted-client.ts': "export { CodesignError } from '../../src/errors/codesign-error.ts';\n",
  'src/cli/planted-test.ts': "export { Planted } from '../../test/planted.ts';\n",
  'test/planted.ts': 'export const Planted = 1;\n',
  'src/cli/planted-missing.ts': "export { nothing } from './not-there.ts';\n",
};

let tree: string;
let result: CruiseResult;
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
});

it.each([
  ['a type imported from a higher layer', 'layer-errors', 'src/errors/planted-upward.ts', 'src/format/format.ts'],
  ['a circle', 'no-circles', 'src/bytes/planted-circle-a.ts', 'src/bytes/planted-circle-b.ts'],
  [
    'a circle in the conformance suite',
    'no-circles',
    'server/conformance/planted-circle-a.ts',
    'server/conformance/planted-circle-b.ts',
  ],
  [
    'a format that imports another',
    'a-format-knows-no-other',
    'src/formats/planted/sibling.ts',
    'src/formats/pe/index.ts',
  ],
  ['a format that reads files', 'formats-do-no-io', 'src/formats/planted/disk.ts', 'fs'],
  [
    'signing that names a format',
    'signing-names-no-format',
    'src/signing/planted-format.ts',
    'src/formats/pe/index.ts',
  ],
  [
    'a server that imports client code',
    'server-shares-only-messages',
    'server/src/planted-client.ts',
    'src/errors/codesign-error.ts',
  ],
  ['source that imports a test', 'source-imports-no-test', 'src/cli/planted-test.ts', 'test/planted.ts'],
  ['an import of nothing', 'resolvable', 'src/cli/planted-missing.ts', './not-there.ts'],
])('a planted violation is found: %s', (_what, rule, from, to) => {
  expect(result.violations).toContainEqual({ rule, from, to, severity: 'error' });
});
