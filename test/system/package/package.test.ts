/** What `npm pack` makes: only what running needs; package.long.test.ts and npx.long.test.ts install and run it. */

import { expect, it } from 'vitest';
import { packOnce } from './pack.ts';

/** Everything that may be in the package. Chunks and declarations come under changing names. */
const EXPECTED = [
  /^package\.json$/,
  /^README\.md$/,
  /^docs\/([a-z\d-]+\/)?((README|[a-z\d-]+)\.md|terminal\.svg)$/,
  /^LICENSE$/,
  /^dist\/man\/codesign-remote\.1$/,
  /^bin\/(codesign-remote\.js|package\.json)$/,
  /^dist\/(cli\.cjs|(index|electron-builder|electron-windows-sign)\.c?js|digest-worker\.js)$/,
  /^dist\/[\w-]+-[\w-]{8}\.c?js$/,
  /^schema\/codesign-remote\.(config|policy|profiles)\.schema\.json$/,
  /^dist\/THIRD-PARTY-NOTICES\.txt$/,
  /^dist\/types\/([a-z\d-]+\/)*[a-z\d-]+\.d\.ts$/,
  /^dist\/types\/([a-z\d-]+\/)*[a-z\d-]+\.d\.cts$/,
];

it('contains everything that is needed to run, and nothing else', async () => {
  const { files } = await packOnce();
  expect(files.filter((file) => !EXPECTED.some((pattern) => pattern.test(file)))).toEqual([]);
  expect(EXPECTED.filter((pattern) => !files.some((file) => pattern.test(file)))).toEqual([]);
});
