import { expect, it } from 'vitest';
import { checkDigestLimit, FURTHER_BYTES } from '../../../../../src/formats/jar/content.ts';
import { jar } from '../../../../../src/formats/jar/index.ts';
import { makeThrowawaySigner } from '../../../../support/signed-files/throwaway-signer.ts';
import { codesOf } from '../../support/is-intact.ts';
import { openBytes, signBytes } from '../../support/sign-bytes.ts';
import { jarOf, withManifest } from '../simple-zip.ts';

const TOO_MANY = { code: 'jar-too-many-digests', category: 'local' };
const file = (size: number, compressedSize = 0) => ({ name: 'a', size, compressedSize });
const ONE = ['sha256'];
const TWO = ['sha1', 'sha256'];
const THREE = ['md5', 'sha3-512', 'sha512'];
const expectRejected = (...given: Parameters<typeof checkDigestLimit>) =>
  expect(() => checkDigestLimit(...given)).toThrow(expect.objectContaining(TOO_MANY));

it('digests of contents by further algorithms are limited, unless the compressed contents are large', () => {
  const half = file(FURTHER_BYTES / 2);
  checkDigestLimit([half, half], [TWO, TWO]);
  expectRejected([half, file(FURTHER_BYTES / 2 + 1)], [TWO, TWO]);
  expectRejected([file(FURTHER_BYTES)], [THREE]);
  const huge = file(100 * FURTHER_BYTES);
  checkDigestLimit([huge, huge], [ONE, []]);
  const large = file(10 * FURTHER_BYTES, FURTHER_BYTES);
  checkDigestLimit([large], [TWO]);
  expectRejected([large], [THREE]);
});

it('a second section of one name must have no digests, before and after signing', async () => {
  const section = 'Name: a\r\nSHA-256-Digest: ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs=\r\n\r\n';
  const signer = await makeThrowawaySigner();
  const signing = signBytes(jar, jarOf(`X: 1\r\n\r\n${section}${section}`, 'a'), signer);
  await expect(signing).rejects.toMatchObject(TOO_MANY);
  const { result } = await signBytes(jar, jarOf(`X: 1\r\n\r\nName: a\r\nX: 1\r\n\r\n${section}`, 'a'), signer);
  expect(await codesOf((await (await openBytes(jar, result)).signatures())[0])).toEqual([]);
  const doubled = withManifest(result, (text) => text + section);
  expect(await codesOf((await (await openBytes(jar, doubled)).signatures())[0])).toContain('jar-too-many-digests');
});
