import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { jar } from '../../../../src/formats/jar/index.ts';
import { signedByOpenssl } from '../../../support/programs/openssl.ts';
import { issue, type KeyPair, testKey } from '../../../support/signed-files/pki.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { buildToken, buildTstInfo } from '../../timestamp/support/build-token.ts';
import { applyPatch } from '../support/apply-patch.ts';
import { signingIn, stampIn } from '../support/change.ts';
import { codesOf } from '../support/is-intact.ts';
import { attachBytes, openBytes, signBytes } from '../support/sign-bytes.ts';
import { contentsOf, jarOf, namesIn, renamed, repack } from './simple-zip.ts';

const SF = 'META-INF/TEST_PUB.SF';
const RSA = 'META-INF/TEST_PUB.RSA';
const plain = jarOf('X: 1\r\n\r\n', 'a', 'b');

const signer = await makeThrowawaySigner();
const signed = (await signBytes(jar, plain, signer)).result;
const cms = contentsOf(signed, RSA);

const attached = (bytes: Buffer, block: Uint8Array) => attachBytes(jar, bytes, block);

/** A block without signed attributes. */
const blockByOpenssl = (key: KeyPair) =>
  signedByOpenssl(contentsOf(signed, SF), issue({ commonName: 'By OpenSSL', key }), ['-noattr']);

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
      const back = await attached(signed, blockByOpenssl(key));
      const [signature, ...others] = await (await openBytes(jar, back)).signatures();
      expect([signature?.signer.name, others]).toEqual(['By OpenSSL', []]);
      return await codesOf(signature);
    };
    expect(await attachedBy(testKey('rsa-2048'))).toEqual([]);
    expect(await attachedBy(generateKeyPairSync('rsa', { modulusLength: 1016 }))).toEqual(['key-too-short']);
    const block = blockByOpenssl(testKey('ec'));
    expect(namesIn(await attached(repack(signed, { [RSA]: undefined }), block))).toContain('META-INF/TEST_PUB.EC');
  });

  it('is rejected for an unsigned archive or another content, with the reason', async () => {
    const refusal = (reason: string) => ({ code: 'not-its-signature', message: expect.stringContaining(reason) });
    await expect(attached(plain, cms)).rejects.toMatchObject(refusal('needs its unchanged .SF file'));
    const other = repack(signed, { b: 'other' });
    await expect(attached(other, cms)).rejects.toMatchObject(refusal('contents differ from the signed ones: b'));
  });
});

describe('a timestamp', () => {
  /** By SHA-256 or SHA-1, of the first signature in the file. */
  async function stamped(bytes: Buffer, algorithm: 'SHA256' | 'SHA1' = 'SHA256'): Promise<Buffer> {
    const file = await openBytes(jar, bytes);
    const [signature = expect.unreachable()] = await file.signatures();
    const token = buildToken({ info: buildTstInfo(signature.value ?? plain), algorithm });
    const embedding = await stampIn(file, new Map([[signature, token]]));
    const result = applyPatch(bytes, embedding.patch);
    await signingIn(await openBytes(jar, result)).verify(embedding);
    return result;
  }

  it('leaves the files of signatures in their places with their names, also those that are not ASCII', async () => {
    const block = { name: 'META-INF/Test_Pub.rsa', contents: cms };
    const moved = repack(signed, { [RSA]: undefined }, [block]);
    const another = await makeThrowawaySigner({ publisher: 'Another Publisher' });
    const two = (await signBytes(jar, signed, another, { mode: 'append' })).result;
    for (const bytes of [moved, renamed(signed, 'TEST_PUB', 'ПОДПИСЬ'), two]) {
      const after = await stamped(bytes);
      expect(namesIn(after)).toEqual(namesIn(bytes));
      const signatures = await (await openBytes(jar, after)).signatures();
      expect(signatures.map(({ timestamps }) => timestamps.length)).toEqual(bytes === two ? [1, 0] : [1]);
    }
  });

  it('by SHA-1 is rejected, because Java would ignore the signature', async () => {
    await expect(stamped(signed, 'SHA1')).rejects.toMatchObject({ code: 'jar-unsigned-timestamp' });
    const context = signingContext({ timestampAlgorithm: 'SHA1', chain: signer.chain });
    const checking = signingIn(await openBytes(jar, plain)).check(context, 'replace');
    await expect(checking).rejects.toMatchObject({ code: 'jar-unsigned-timestamp' });
  });
});
