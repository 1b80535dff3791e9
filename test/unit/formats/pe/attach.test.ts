/** Putting finished signatures into PE files: those that are the file's, and no others. */

import { describe, expect, it } from 'vitest';
import { nestSignature } from '../../../../src/authenticode/authenticode-file.ts';
import { pe } from '../../../../src/formats/pe/index.ts';
import { makePki } from '../../../support/signed-files/pki.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { MD5, type Peculiar, peculiarSignature } from '../../authenticode/peculiar-signature.ts';
import { checkIn, signingIn } from '../support/change.ts';
import { readFixture } from '../support/fixtures.ts';
import { codesOf } from '../support/is-intact.ts';
import { attachBytes, openBytes } from '../support/sign-bytes.ts';
import { headerOffsets } from './slow-pe.ts';
import { withCertificates, withHeader } from './tables.ts';

const leaf = makePki().leaf();
const hello = readFixture('pe/hello.exe');
/** What Authenticode digests of a program, without padding. */
function contentOf(program: Buffer): Buffer {
  const { checksum, entry } = headerOffsets(program);
  return Buffer.concat([
    program.subarray(0, checksum),
    program.subarray(checksum + 4, entry),
    program.subarray(entry + 8),
  ]);
}
const ofHello = (options: Peculiar = {}) => peculiarSignature(leaf, { digested: contentOf(hello), ...options });

const attach = (bytes: Buffer, cms: Uint8Array) => attachBytes(pe, bytes, cms);

describe('a signature of the content', () => {
  it.each<[string, Peculiar, readonly string[]]>([
    ['by other code', {}, []],
    ['with MD5, however little it proves', { digest: MD5 }, ['digest-algorithm-weak']],
  ])('%s is taken', async (_what, options, codes) => {
    const result = await attach(hello, ofHello(options));
    expect(await codesOf((await (await openBytes(pe, result)).signatures())[0])).toEqual(codes);
  });

  it('is rejected if one of another program is nested in it', async () => {
    await expect(attach(hello, nestSignature(ofHello(), peculiarSignature(leaf)))).rejects.toMatchObject({
      code: 'not-its-signature',
      message: expect.stringMatching(/digest differs from the signed one/),
    });
  });

  it('covers the padding that the file will have', async () => {
    const odd = readFixture('pe/size-mod-8-is-5.exe');
    await attach(odd, peculiarSignature(leaf, { digested: Buffer.concat([contentOf(odd), Buffer.alloc(3)]) }));
    const wrong = peculiarSignature(leaf, { digested: contentOf(odd) });
    await expect(attach(odd, wrong)).rejects.toMatchObject({ code: 'not-its-signature' });
  });
});

describe('a signature for an unknown kind of file', () => {
  const unknown = ofHello({ dataType: '1.2.3.4' });
  const golden = readFixture('golden/sha256-rsa2048.exe');
  const fileWith = (cms: Uint8Array) => withCertificates(golden, withHeader(cms));

  it.each([
    ['outer', unknown],
    ['nested', nestSignature(ofHello(), unknown)],
  ])('is broken, and nothing is appended to it: %s', async (_where, cms) => {
    const file = await openBytes(pe, fileWith(cms));
    const [outer] = await file.signatures();
    expect([await codesOf(outer), await codesOf(outer?.contained[0]?.signature)]).toContainEqual([
      'signed-kind-differs',
    ]);
    const context = signingContext({ chain: (await makeThrowawaySigner()).chain });
    await expect(checkIn(file, pe, context, 'append')).rejects.toMatchObject({ code: 'cannot-append' });
    await expect(signingIn(await openBytes(pe, fileWith(ofHello()))).check(context, 'append')).resolves.toMatchObject({
      requests: 1,
    });
  });

  it('is accepted in an EFI program that names a purpose, as Debian signed some', async () => {
    const program = readFixture('pe/program.efi');
    const ofProgram = (dataType: string) => peculiarSignature(leaf, { digested: contentOf(program), dataType });
    const result = await attach(program, ofProgram('1.3.6.1.4.1.311.2.1.21'));
    expect(await codesOf((await (await openBytes(pe, result)).signatures())[0])).toEqual(['signed-kind-other']);
    for (const other of ['1.3.6.1.4.1.311.2.1.22', '1.2.3.4']) {
      await expect(attach(program, ofProgram(other))).rejects.toMatchObject({ code: 'not-its-signature' });
    }
    const inHello = ofHello({ dataType: '1.3.6.1.4.1.311.2.1.21' });
    await expect(attach(hello, inHello)).rejects.toMatchObject({ code: 'not-its-signature' });
  });
});
