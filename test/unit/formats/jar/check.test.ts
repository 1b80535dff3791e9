/** Holds the check of a written JAR: each way the result can be wrong is seen. */

import { describe, expect, it } from 'vitest';
import { jar } from '../../../../src/formats/jar/index.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { signingIn } from '../support/change.ts';
import { openBytes, type SignedBytes, signBytes } from '../support/sign-bytes.ts';
import { signAgain, withoutWholeDigest } from './interop/signed-again.ts';
import { contentsOf, repack, unzip, zip } from './simple-zip.ts';

const MANIFEST = 'META-INF/MANIFEST.MF';
const FIRST = 'META-INF/TEST_PUB';
const SECOND = 'META-INF/ANOTHER_';
const plain = zip([
  { name: 'META-INF/' },
  { name: MANIFEST, contents: 'X: 1\r\n\r\n' },
  { name: 'a', contents: 'a' },
  { name: 'b', contents: 'b' },
]);

const signer = await makeThrowawaySigner();
const another = await makeThrowawaySigner({ publisher: 'Another Publisher' });
const alone = await signBytes(jar, plain, signer);
const both = await signBytes(jar, alone.result, another, { mode: 'append' });

async function checked(bytes: Buffer, { embedding }: SignedBytes): Promise<void> {
  await signingIn(await openBytes(jar, bytes)).verify(embedding);
}

/** The entries in this order, others behind them. */
function reordered(bytes: Buffer, ...first: readonly string[]): Buffer {
  const entries = unzip(bytes);
  return zip([
    ...first.map((name) => ({ name, contents: contentsOf(bytes, name) })),
    ...entries.filter(({ name }) => !first.includes(name)),
  ]);
}

const changedManifest = (bytes: Buffer, change: (text: string) => string) =>
  repack(bytes, { [MANIFEST]: change(contentsOf(bytes, MANIFEST).toString()) });

describe('the check of a signed JAR takes', () => {
  it('the archive as it should be, however it is packed', async () => {
    await checked(alone.result, alone);
    await checked(repack(alone.result, {}), alone);
    await checked(repack(both.result, {}), both);
    await checked(repack(alone.result, { 'META-INF/': undefined }), alone);
  });

  it('what is no file to sign', async () => {
    await checked(repack(alone.result, {}, [{ name: 'folder/' }, { name: 'META-INF/SIG-X', contents: 'x' }]), alone);
  });
});

describe('the check of a signed JAR sees', () => {
  const WRONG: Readonly<Record<string, () => Buffer>> = {
    'no manifest': () => repack(alone.result, { [MANIFEST]: undefined }),
    'a manifest that does not come first': () => reordered(alone.result, 'META-INF/', `${FIRST}.SF`),
    'a manifest in lower case': () =>
      zip(
        unzip(alone.result).map(({ name, contents }) => ({
          name: name.replace('MANIFEST.MF', 'manifest.mf'),
          contents,
        })),
      ),
    'a missing file': () => repack(alone.result, { a: undefined }),
    'a file too many': () => repack(alone.result, {}, [{ name: 'c', contents: 'c' }]),
    'a missing block': () => repack(alone.result, { [`${FIRST}.RSA`]: undefined }),
    'a missing signature file': () => repack(alone.result, { [`${FIRST}.SF`]: undefined }),
    'a changed signature file': () =>
      repack(alone.result, { [`${FIRST}.SF`]: `${contentsOf(alone.result, `${FIRST}.SF`)}\r\n` }),
    'a changed manifest': () => changedManifest(alone.result, (text) => text.replace('X: 1', 'X: 2')),
    'a signature of the same files that is not the new one': () =>
      signAgain(alone.result, signer, 'TEST_PUB', withoutWholeDigest),
    'the new signature twice': () =>
      repack(alone.result, {}, [
        { name: `${SECOND}.SF`, contents: contentsOf(alone.result, `${FIRST}.SF`) },
        { name: `${SECOND}.RSA`, contents: contentsOf(alone.result, `${FIRST}.RSA`) },
      ]),
    'a signature too many': () => both.result,
  };

  it.each(Object.entries(WRONG))('%s', async (_, bytes) => {
    await expect(checked(bytes(), alone)).rejects.toMatchObject({ code: 'result-damaged', category: 'local' });
  });

  it('in one that was appended to: that the first signature is gone, or changed, or broken', async () => {
    const digest = contentsOf(both.result, `${FIRST}.SF`).toString().replace('SHA-256-Digest-Manifest:', 'X:');
    const wrong = [
      alone.result,
      repack(both.result, { [`${FIRST}.SF`]: undefined, [`${FIRST}.RSA`]: undefined }),
      repack(both.result, { [`${FIRST}.SF`]: undefined }),
      repack(both.result, { [`${FIRST}.RSA`]: contentsOf(both.result, `${SECOND}.RSA`) }),
      repack(both.result, { [`${FIRST}.SF`]: digest.replace(/^SHA-256-Digest: .*/gm, 'SHA-256-Digest: x') }),
    ];
    for (const bytes of wrong) {
      await expect(checked(bytes, both)).rejects.toMatchObject({ code: 'result-damaged' });
    }
  });

  it.each([
    ['empty', () => ''],
    ['changed where it says nothing of the manifest', (text: string) => text.replace('Created-By: ', 'Made-By: ')],
  ])('in one that was appended to: that the signature file of the first is %s', async (_, change) => {
    const file = change(contentsOf(both.result, `${FIRST}.SF`).toString());
    await expect(checked(repack(both.result, { [`${FIRST}.SF`]: file }), both)).rejects.toMatchObject({
      code: 'result-damaged',
    });
  });
});
