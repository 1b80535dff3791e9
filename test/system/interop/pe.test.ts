/** Has osslsigncode, sbverify and openssl examine signed fixtures. */

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { DIGEST_ALGORITHMS } from '../../../src/crypto/algorithms.ts';
import { pe } from '../../../src/formats/pe/index.ts';
import { folderForAll } from '../../support/set-up.ts';
import { makeThrowawaySigner } from '../../support/signed-files/throwaway-signer.ts';
import { fixturesIn, readFixture } from '../../unit/formats/support/fixtures.ts';
import { type SignBytesOptions, signBytes } from '../../unit/formats/support/sign-bytes.ts';
import { osslsigncodeVerify, sbverify } from './verifiers.ts';

const programs = fixturesIn('pe');
const inFolder = (name: string) => path.join(folder, name);

const signer = await makeThrowawaySigner();
const another = await makeThrowawaySigner({ publisher: 'Another Publisher', bits: 3072 });
const folder = folderForAll();
writeFileSync(inFolder('root.pem'), signer.root);
writeFileSync(inFolder('intermediate.pem'), signer.intermediate);

/** Signs, writes the result, and gives its path. */
async function signed(name: string, bytes: Buffer, options: SignBytesOptions = {}, by = signer): Promise<string> {
  const file = inFolder(name.replace('/', '-'));
  writeFileSync(file, (await signBytes(pe, bytes, by, options)).result);
  return file;
}

describe('osslsigncode', () => {
  it.each(programs)('accepts $name', async ({ name, bytes }) => {
    const file = await signed(name, bytes);
    expect(await osslsigncodeVerify(inFolder('root.pem'), file)).toMatchObject({ accepted: true });
  });

  it.each(DIGEST_ALGORITHMS)('accepts %s with a description and a web page', async (algorithm) => {
    const info = { description: 'Ünïcode 名前', url: 'https://example.com/' };
    const file = await signed(`${algorithm}.exe`, readFixture('pe/hello.exe'), { algorithm, ...info });
    const { accepted, output } = await osslsigncodeVerify(inFolder('root.pem'), file);
    expect(accepted).toBe(true);
    expect(output).toContain('https://example.com/');
  });

  it('accepts three parallel signatures', async () => {
    const first = await signBytes(pe, readFixture('pe/hello.exe'), signer, { algorithm: 'SHA1' });
    const second = await signBytes(pe, first.result, another, { mode: 'append' });
    const file = await signed('three.exe', second.result, { mode: 'append', algorithm: 'SHA512' });
    const { accepted, output } = await osslsigncodeVerify(inFolder('root.pem'), file);
    expect(accepted).toBe(true);
    for (const digest of ['SHA1', 'SHA256', 'SHA512'])
      expect(output).toMatch(new RegExp(`algorithm *: ${digest}$`, 'm'));
    expect(output).toContain('Number of verified signatures: 3');
  });
});

describe('the golden files', () => {
  const names: readonly string[] = JSON.parse(readFixture('golden/signatures.json').toString()).map(
    ({ name }: { name: string }) => name,
  );
  const golden = (name: string) => fileURLToPath(new URL(`../../../fixtures/golden/${name}`, import.meta.url));

  it.each(names)('are accepted by osslsigncode: %s', async (name) => {
    expect(await osslsigncodeVerify(golden('root.pem'), golden(name))).toMatchObject({ accepted: true });
  });
});

describe('sbverify', () => {
  it('accepts an EFI program', async () => {
    const file = await signed('program.efi', readFixture('pe/program.efi'));
    expect(await sbverify(inFolder('intermediate.pem'), file)).toMatchObject({ accepted: true });
  });
});
