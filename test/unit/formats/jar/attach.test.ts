/** Holds putting a signature block into a JAR: only one that signs a signature file in it, and that is as it was. */

import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { jar } from '../../../../src/formats/jar/index.ts';
import { issue, type KeyPair, testKey } from '../../../support/signed-files/pki.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { codesOf } from '../support/is-intact.ts';
import { attachBytes, openBytes, signBytes } from '../support/sign-bytes.ts';
import { contentsOf, repack, unzip, zip } from './simple-zip.ts';

const MANIFEST = 'META-INF/MANIFEST.MF';
const SF = 'META-INF/TEST_PUB.SF';
const RSA = 'META-INF/TEST_PUB.RSA';
const plain = zip([
  { name: MANIFEST, contents: 'X: 1\r\n\r\n' },
  { name: 'a', contents: 'a' },
  { name: 'b', contents: 'b' },
]);

const signer = await makeThrowawaySigner();
const signed = (await signBytes(jar, plain, signer)).result;
const cms = contentsOf(signed, RSA);

const attached = (bytes: Buffer, block: Uint8Array) => attachBytes(jar, bytes, block);

const names = (bytes: Buffer) => unzip(bytes).map(({ name }) => name);

/** A block without signed attributes. */
function signedByOpenssl(signatureFile: Buffer, key: KeyPair): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'codesign-attach-'));
  try {
    const at = (name: string) => join(folder, name);
    writeFileSync(at('sf'), signatureFile);
    const { pem, privateKey } = issue({ commonName: 'By OpenSSL', key });
    writeFileSync(at('cert'), pem);
    writeFileSync(at('key'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const as = ['-signer', at('cert'), '-inkey', at('key'), '-outform', 'DER', '-binary', '-noattr', '-md', 'sha256'];
    execFileSync('openssl', ['cms', '-sign', ...as, '-in', at('sf'), '-out', at('block')]);
    return readFileSync(at('block'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('a block', () => {
  it('takes the place of another one of the same signature file, whatever the kind of its key', async () => {
    const other = repack(signed, { [RSA]: 'not a signature' });
    expect(names(await attached(other, cms))).toEqual(names(signed));
    const renamed = zip(unzip(signed).map(({ name, contents }) => ({ name: name.replace('.RSA', '.DSA'), contents })));
    const changed = repack(renamed, { 'META-INF/TEST_PUB.DSA': 'not a signature' });
    expect(names(await attached(changed, cms))).toEqual(names(signed));
  });

  it('is named like its signature file, and by the kind of its key', async () => {
    const lower = zip(
      unzip(signed).map(({ name, contents }) => ({ name: name.replace('TEST_PUB', 'Test'), contents })),
    );
    expect(names(await attached(repack(lower, { 'META-INF/Test.RSA': undefined }), cms))).toContain(
      'META-INF/Test.RSA',
    );
  });

  it('that OpenSSL made without signed attributes is attached, and is checked by its key too', async () => {
    const attachedBy = async (key: KeyPair) => {
      const back = await attached(signed, signedByOpenssl(contentsOf(signed, SF), key));
      const [signature, ...others] = await (await openBytes(jar, back)).signatures();
      expect([signature?.signer.name, others]).toEqual(['By OpenSSL', []]);
      return await codesOf(signature);
    };
    expect(await attachedBy(testKey('rsa-2048'))).toEqual([]);
    expect(await attachedBy(generateKeyPairSync('rsa', { modulusLength: 1016 }))).toEqual(['key-too-short']);
  });

  it('by an EC key gets the name of its kind', async () => {
    const block = signedByOpenssl(contentsOf(signed, SF), testKey('ec'));
    expect(names(await attached(repack(signed, { [RSA]: undefined }), block))).toContain('META-INF/TEST_PUB.EC');
  });
});

describe('a block is rejected, with the reason,', () => {
  const UNCHANGED_SF = /does not belong to any signature file .* needs its unchanged .SF file/;

  it.each<[string, () => Buffer, RegExp]>([
    ['an unsigned archive', () => plain, UNCHANGED_SF],
    ['another signature file', () => repack(signed, { [SF]: `${contentsOf(signed, SF)}\r\n` }), UNCHANGED_SF],
    ['another content', () => repack(signed, { b: 'other' }), /contents differ from the signed ones: b$/],
  ])('for %s', async (_, bytes, reason) => {
    await expect(attached(bytes(), cms)).rejects.toMatchObject({
      code: 'not-its-signature',
      category: 'local',
      message: expect.stringMatching(reason),
    });
  });
});
