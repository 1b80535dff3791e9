import { describe, expect, it } from 'vitest';
import { jar } from '../../../../src/formats/jar/index.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { signingIn } from '../support/change.ts';
import { openBytes, type SignedBytes, signBytes } from '../support/sign-bytes.ts';
import { signAgain, withoutWholeDigest } from './interop/signed-again.ts';
import { contentsOf, jarOf, MANIFEST, renamed, repack, unzip, withManifest, zip } from './simple-zip.ts';

const SF = 'META-INF/TEST_PUB.SF';
const RSA = 'META-INF/TEST_PUB.RSA';
const plain = zip([{ name: 'META-INF/' }, ...unzip(jarOf('X: 1\r\n\r\n', 'a', 'b'))]);

const signer = await makeThrowawaySigner();
const another = await makeThrowawaySigner({ publisher: 'Another Publisher' });
const signed = await signBytes(jar, plain, signer);
const alone = signed.result;
const appended = await signBytes(jar, alone, another, { mode: 'append' });
const both = appended.result;

async function checked(bytes: Buffer, { embedding }: SignedBytes): Promise<void> {
  await signingIn(await openBytes(jar, bytes)).verify(embedding);
}

const sf = contentsOf(alone, SF).toString();
const moved = { name: SF, contents: sf };
const twice = [
  { ...moved, name: 'META-INF/ANOTHER_.SF' },
  { name: 'META-INF/ANOTHER_.RSA', contents: contentsOf(alone, RSA) },
];
const ofFirst = (change: (text: string) => string) => repack(both, { [SF]: change(sf) });

it('accepts the archive as it should be, however it is packed, with what is no file to sign', async () => {
  await checked(repack(alone, {}), signed);
  await checked(repack(both, {}), appended);
  await checked(repack(alone, { 'META-INF/': undefined }), signed);
  await checked(repack(alone, {}, [{ name: 'folder/' }, { name: 'META-INF/SIG-X', contents: 'x' }]), signed);
});

describe('the check of a signed JAR sees', () => {
  it.each([
    ['no manifest', repack(alone, { [MANIFEST]: undefined })],
    ['a manifest that does not come first', zip([moved, ...unzip(repack(alone, { [SF]: undefined }))])],
    ['a manifest in lower case', renamed(alone, 'MANIFEST.MF', 'manifest.mf')],
    ['a file too many', repack(alone, {}, [{ name: 'c', contents: 'c' }])],
    ['a changed signature file', repack(alone, { [SF]: `${sf}\r\n` })],
    ['a changed manifest', withManifest(alone, (text) => text.replace('X: 1', 'X: 2'))],
    ['a signature of the same files that is not the new one', signAgain(alone, signer, 'TEST_PUB', withoutWholeDigest)],
    ['the new signature twice', repack(alone, {}, twice)],
    ['a signature too many', both],
  ])('%s', async (_, bytes) => {
    await expect(checked(bytes, signed)).rejects.toMatchObject({ code: 'result-damaged', category: 'local' });
  });

  it.each([
    ['has other digests', ofFirst((text) => text.replace(/^SHA-256-Digest: .*/gm, 'SHA-256-Digest: x'))],
    ['has another signature file', ofFirst((text) => text.replace('Created-By: ', 'Made-By: '))],
  ])('that the signature that was there before %s', async (_, bytes) => {
    await expect(checked(bytes, appended)).rejects.toMatchObject({ code: 'result-damaged' });
  });
});
