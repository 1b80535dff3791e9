/** Holds how many digests of contents are checked: those of one section of each file, up to a limit. More are rejected. */

import { describe, expect, it } from 'vitest';
import { checkDigestLimit, FURTHER_BYTES } from '../../../../../src/formats/jar/content.ts';
import { jar } from '../../../../../src/formats/jar/index.ts';
import { makeThrowawaySigner } from '../../../../support/signed-files/throwaway-signer.ts';
import { codesOf } from '../../support/is-intact.ts';
import { openBytes, signBytes } from '../../support/sign-bytes.ts';
import { contentsOf, repack, zip } from '../simple-zip.ts';

const MANIFEST = 'META-INF/MANIFEST.MF';
const TOO_MANY = { code: 'jar-too-many-digests', category: 'local' };
const file = (size: number, compressedSize = 0) => ({ name: 'a', size, compressedSize });
const ONE = ['sha256'];
const TWO = ['sha1', 'sha256'];
const THREE = ['md5', 'sha3-512', 'sha512'];
const expectRejected = (...given: Parameters<typeof checkDigestLimit>) =>
  expect(() => checkDigestLimit(...given)).toThrow(expect.objectContaining(TOO_MANY));

describe('the digests of contents', () => {
  it('are rejected if those by further algorithms are of more bytes than the limit', () => {
    const half = file(FURTHER_BYTES / 2);
    checkDigestLimit([half, half], [TWO, TWO]);
    expectRejected([half, file(FURTHER_BYTES / 2 + 1)], [TWO, TWO]);
    expectRejected([file(FURTHER_BYTES)], [THREE]);
  });

  it('may be one for each file, however large it is, and none', () => {
    const huge = file(100 * FURTHER_BYTES);
    checkDigestLimit([huge, huge], [ONE, []]);
  });

  it('may be more where the compressed contents are large', () => {
    const large = file(10 * FURTHER_BYTES, FURTHER_BYTES);
    checkDigestLimit([large], [TWO]);
    expectRejected([large], [THREE]);
  });
});

describe('a second section of one name', () => {
  const archive = (manifest: string) =>
    zip([
      { name: MANIFEST, contents: manifest },
      { name: 'a', contents: 'a' },
    ]);
  const section = 'Name: a\r\nSHA-256-Digest: ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs=\r\n\r\n';

  it('has no digests: with them, the archive is not signed', async () => {
    const signer = await makeThrowawaySigner();
    const signing = signBytes(jar, archive(`X: 1\r\n\r\n${section}${section}`), signer);
    await expect(signing).rejects.toMatchObject(TOO_MANY);
    const { result } = await signBytes(jar, archive(`X: 1\r\n\r\nName: a\r\nX: 1\r\n\r\n${section}`), signer);
    expect(await codesOf((await (await openBytes(jar, result)).signatures())[0])).toEqual([]);
  });

  it('breaks a signature if it has them', async () => {
    const { result } = await signBytes(jar, archive('X: 1\r\n\r\n'), await makeThrowawaySigner());
    const doubled = repack(result, { [MANIFEST]: `${contentsOf(result, MANIFEST)}${section}` });
    expect(await codesOf((await (await openBytes(jar, doubled)).signatures())[0])).toContain('jar-too-many-digests');
  });
});
