/** Has osslsigncode and sbverify examine signed fixtures. */

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { pe } from '../../../src/formats/pe/index.ts';
import { fixture } from '../../support/programs/cli.ts';
import { folderForAll } from '../../support/set-up.ts';
import { makeThrowawaySigner } from '../../support/signed-files/throwaway-signer.ts';
import { fixturesIn, readFixture } from '../../unit/formats/support/fixtures.ts';
import { signBytes } from '../../unit/formats/support/sign-bytes.ts';
import { osslsigncodeVerify, sbverify } from './verifiers.ts';

const signer = await makeThrowawaySigner();
const folder = folderForAll();
const inFolder = (name: string) => path.join(folder, name);
writeFileSync(inFolder('root.pem'), signer.root);
writeFileSync(inFolder('intermediate.pem'), signer.intermediate);

/** Signs, writes the result, and gives its path. */
async function signed(name: string, bytes: Buffer): Promise<string> {
  const file = inFolder(path.basename(name));
  writeFileSync(file, (await signBytes(pe, bytes, signer)).result);
  return file;
}

it.each(fixturesIn('pe'))('osslsigncode accepts $name', async ({ name, bytes }) => {
  const file = await signed(name, bytes);
  expect(await osslsigncodeVerify(inFolder('root.pem'), file)).toMatchObject({ accepted: true });
});

const GOLDEN: readonly { readonly name: string }[] = JSON.parse(readFixture('golden/signatures.json').toString());
/** The web page, and the signatures by SHA-1, SHA-256 and SHA-512 next to each other. */
const SAID: Readonly<Record<string, string>> = {
  'described.exe': 'https://example.com/hello?a=1',
  'appended-twice.exe': 'Number of verified signatures: 3',
};

it.each(GOLDEN)('osslsigncode accepts the golden file $name', async ({ name }) => {
  const { accepted, output } = await osslsigncodeVerify(fixture('golden/root.pem'), fixture(`golden/${name}`));
  expect(accepted).toBe(true);
  expect(output).toContain(SAID[name] ?? 'Succeeded');
});

it('sbverify accepts an EFI program', async () => {
  const file = await signed('program.efi', readFixture('pe/program.efi'));
  expect(await sbverify(inFolder('intermediate.pem'), file)).toMatchObject({ accepted: true });
});
