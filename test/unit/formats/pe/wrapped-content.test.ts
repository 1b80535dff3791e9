/** Signatures of the form that CMS prescribes, SignedData version 3 with the content in an OCTET STRING: Windows accepts them. */

import { expect, it } from 'vitest';
import { SPC_INDIRECT_DATA } from '../../../../src/asn1/object-identifiers.ts';
import { parseSignedData } from '../../../../src/cms/parse-signed-data.ts';
import { pe } from '../../../../src/formats/pe/index.ts';
import { openssl } from '../../../support/programs/openssl.ts';
import { makePki } from '../../../support/signed-files/pki.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { readFixture } from '../support/fixtures.ts';
import { codesOf } from '../support/is-intact.ts';
import { attachBytes, openBytes, signBytes } from '../support/sign-bytes.ts';

const leaf = makePki().leaf();
const hello = readFixture('pe/hello.exe');
const signer = await makeThrowawaySigner();

/** By openssl, over the content of our own signature of the program. */
async function byOpenssl(...more: readonly string[]): Promise<Buffer> {
  const { sealed } = await signBytes(pe, hello, signer);
  const files = {
    'content.der': parseSignedData(sealed).content?.bytes ?? '',
    'leaf.pem': leaf.pem,
    'key.pem': leaf.privateKey.export({ type: 'pkcs8', format: 'pem' }),
  };
  const type = ['-econtent_type', SPC_INDIRECT_DATA, '-binary', '-nodetach', '-md', 'sha256', '-outform', 'DER'];
  const signing = ['-in', 'content.der', '-signer', 'leaf.pem', '-inkey', 'key.pem', ...more];
  return openssl(['cms', '-sign', ...type, ...signing], files);
}

it.each([
  ['in one piece', []],
  ['in pieces, in BER', ['-stream']],
])('attaches a signature with its content in an OCTET STRING %s, and appends another one', async (_, more) => {
  const cms = await byOpenssl(...more);
  const other = Buffer.concat([hello, Buffer.alloc(8, 1)]);
  await expect(attachBytes(pe, other, cms)).rejects.toMatchObject({ code: 'not-its-signature' });
  const result = await attachBytes(pe, hello, cms);
  const both = await signBytes(pe, result, signer, { mode: 'append', algorithm: 'SHA512' });
  const [outer] = await (await openBytes(pe, both.result)).signatures();
  expect(await codesOf(outer)).toEqual([]);
  expect(await codesOf(outer?.contained[0]?.signature)).toEqual([]);
});
