import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { jar } from '../../../../src/formats/jar/index.ts';
import { folderForAll } from '../../../support/set-up.ts';
import { issue, type KeyPair, testKey } from '../../../support/signed-files/pki.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { codesOf } from '../support/is-intact.ts';
import { attachBytes, openBytes, signBytes } from '../support/sign-bytes.ts';
import { contentsOf, jarOf, namesIn, renamed, repack } from './simple-zip.ts';

const SF = 'META-INF/TEST_PUB.SF';
const RSA = 'META-INF/TEST_PUB.RSA';
const plain = jarOf('X: 1\r\n\r\n', 'a', 'b');

const signed = (await signBytes(jar, plain, await makeThrowawaySigner())).result;
const cms = contentsOf(signed, RSA);
const folder = folderForAll();

const attached = (bytes: Buffer, block: Uint8Array) => attachBytes(jar, bytes, block);

/** A block without signed attributes. */
function signedByOpenssl(signatureFile: Buffer, key: KeyPair): Buffer {
  const at = (name: string) => join(folder, name);
  writeFileSync(at('sf'), signatureFile);
  const { pem, privateKey } = issue({ commonName: 'By OpenSSL', key });
  writeFileSync(at('cert'), pem);
  writeFileSync(at('key'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const as = ['-signer', at('cert'), '-inkey', at('key'), '-outform', 'DER', '-binary', '-noattr', '-md', 'sha256'];
  execFileSync('openssl', ['cms', '-sign', ...as, '-in', at('sf'), '-out', at('block')]);
  return readFileSync(at('block'));
}

describe('a block', () => {
  it('replaces another one of its signature file, whatever the kind of its key, and is named like that file', async () => {
    const other = repack(signed, { [RSA]: 'not a signature' });
    for (const bytes of [other, renamed(other, '.RSA', '.DSA')])
      expect(namesIn(await attached(bytes, cms))).toEqual(namesIn(signed));
    const lower = renamed(repack(signed, { [RSA]: undefined }), 'TEST_PUB', 'Test');
    expect(namesIn(await attached(lower, cms))).toContain('META-INF/Test.RSA');
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
    const block = signedByOpenssl(contentsOf(signed, SF), testKey('ec'));
    expect(namesIn(await attached(repack(signed, { [RSA]: undefined }), block))).toContain('META-INF/TEST_PUB.EC');
  });

  it('is rejected for an unsigned archive or another content, with the reason', async () => {
    const refusal = (reason: string) => ({ code: 'not-its-signature', message: expect.stringContaining(reason) });
    await expect(attached(plain, cms)).rejects.toMatchObject(refusal('needs its unchanged .SF file'));
    const other = repack(signed, { b: 'other' });
    await expect(attached(other, cms)).rejects.toMatchObject(refusal('contents differ from the signed ones: b'));
  });
});
