/** Putting finished signatures into PE files: those that are the file's, and no others. */

import { describe, expect, it } from 'vitest';
import { nestSignature } from '../../../../src/authenticode/authenticode-file.ts';
import { pe } from '../../../../src/formats/pe/index.ts';
import { makePki } from '../../../support/signed-files/pki.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { MD5, type Peculiar, peculiarSignature } from '../../authenticode/peculiar-signature.ts';
import { checkIn } from '../support/change.ts';
import { readFixture } from '../support/fixtures.ts';
import { codesIn, codesOf } from '../support/is-intact.ts';
import { attachBytes, openBytes } from '../support/sign-bytes.ts';
import { slowContent } from './slow-pe.ts';
import { withCertificates, withHeader } from './tables.ts';

const leaf = makePki().leaf();
const hello = readFixture('pe/hello.exe');
const ofHello = (options: Peculiar = {}) => peculiarSignature(leaf, { digested: slowContent(hello), ...options });
const attach = (bytes: Buffer, cms: Uint8Array) => attachBytes(pe, bytes, cms);

it('takes a signature with MD5, however little it proves', async () => {
  expect(await codesIn(pe, await attach(hello, ofHello({ digest: MD5 })))).toEqual(['digest-algorithm-weak']);
});

it('rejects a signature in which one of another program is nested', async () => {
  await expect(attach(hello, nestSignature(ofHello(), peculiarSignature(leaf)))).rejects.toMatchObject({
    code: 'not-its-signature',
    message: expect.stringMatching(/digest differs from the signed one/),
  });
});

it('takes a signature over the padding that the file will have, and none without it', async () => {
  const odd = readFixture('pe/size-mod-8-is-5.exe');
  const digested = slowContent(odd);
  await attach(odd, peculiarSignature(leaf, { digested: Buffer.concat([digested, Buffer.alloc(3)]) }));
  const wrong = peculiarSignature(leaf, { digested });
  await expect(attach(odd, wrong)).rejects.toMatchObject({ code: 'not-its-signature' });
});

describe('a signature for an unknown kind of file', () => {
  const unknown = ofHello({ dataType: '1.2.3.4' });

  it.each([
    ['outer', unknown],
    ['nested', nestSignature(ofHello(), unknown)],
  ])('is broken, and nothing is appended to it: %s', async (_where, cms) => {
    const golden = readFixture('golden/sha256-rsa2048.exe');
    const file = await openBytes(pe, withCertificates(golden, withHeader(cms)));
    const [outer] = await file.signatures();
    expect([await codesOf(outer), await codesOf(outer?.contained[0]?.signature)]).toContainEqual([
      'signed-kind-differs',
    ]);
    const context = signingContext({ chain: (await makeThrowawaySigner()).chain });
    await expect(checkIn(file, pe, context, 'append')).rejects.toMatchObject({ code: 'cannot-append' });
  });

  it('is accepted in an EFI program that names a purpose, as Debian signed some', async () => {
    const program = readFixture('pe/program.efi');
    const purpose = '1.3.6.1.4.1.311.2.1.21';
    const ofProgram = peculiarSignature(leaf, { digested: slowContent(program), dataType: purpose });
    expect(await codesIn(pe, await attach(program, ofProgram))).toEqual(['signed-kind-other']);
    const refusal = { code: 'not-its-signature' };
    await expect(attach(hello, ofHello({ dataType: purpose }))).rejects.toMatchObject(refusal);
  });
});
