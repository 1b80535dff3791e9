/** Putting finished signatures into PE files: those that are the file's, and no others. */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nestSignature } from '../../../../src/authenticode/append.ts';
import { cmsEnvelope } from '../../../../src/formats/format.ts';
import { pe } from '../../../../src/formats/pe/index.ts';
import { makePki } from '../../../support/signed-files/pki.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { MD5, type Peculiar, peculiarSignature } from '../../authenticode/peculiar-signature.ts';
import { applyPatch } from '../support/apply-patch.ts';
import { readFixture } from '../support/fixtures.ts';
import { codesOf } from '../support/is-intact.ts';
import { openBytes } from '../support/sign-bytes.ts';
import { headerOffsets } from './slow-pe.ts';
import { tableOf, withCertificates, withHeader } from './tables.ts';

const goldens: readonly { readonly name: string; readonly input: string }[] = JSON.parse(
  readFixture('golden/signatures.json').toString(),
);
const leaf = makePki().leaf();
const hello = readFixture('pe/hello.exe');
/** What Authenticode digests of it: its length is a multiple of 8. */
const helloContent = (() => {
  const { checksum, entry } = headerOffsets(hello);
  return Buffer.concat([hello.subarray(0, checksum), hello.subarray(checksum + 4, entry), hello.subarray(entry + 8)]);
})();
const ofHello = (options: Peculiar = {}) => peculiarSignature(leaf, { digested: helloContent, ...options });
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'codesign-attach-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function attach(bytes: Buffer, cms: Uint8Array): Promise<Buffer> {
  const embedding = await (await openBytes(pe, bytes)).attach(cmsEnvelope(cms));
  const result = applyPatch(bytes, embedding.patch);
  await (await openBytes(pe, result)).verifyResult(embedding);
  return result;
}

async function cmsIn(bytes: Buffer): Promise<Uint8Array> {
  const [signature] = await (await openBytes(pe, bytes)).signatures();
  if (signature === undefined) throw new Error('unsigned');
  return signature.envelope.bytes;
}

describe('a signature taken out of a file', () => {
  it.each(goldens.filter(({ name }) => name.endsWith('.exe')))(
    'and put in again gives $name',
    async ({ name, input }) => {
      const golden = readFixture(`golden/${name}`);
      const cms = await cmsIn(golden);
      for (const into of [golden, applyPatch(golden, await (await openBytes(pe, golden)).remove())]) {
        expect((await attach(into, cms)).equals(golden)).toBe(true);
      }
      if (!name.startsWith('appended')) expect((await attach(readFixture(input), cms)).equals(golden)).toBe(true);
    },
  );

  it('by osslsigncode, as DER or with what follows it, gives the file that osslsigncode makes of it', async () => {
    const at = (name: string) => path.join(folder, name);
    const golden = readFixture('golden/described.exe');
    writeFileSync(at('hello.exe'), hello);
    writeFileSync(at('signature.der'), await cmsIn(golden));
    const files = ['-sigin', at('signature.der'), '-in', at('hello.exe'), '-out', at('theirs.exe')];
    try {
      execFileSync('osslsigncode', ['attach-signature', ...files], { stdio: 'pipe' });
    } catch {
      // It verifies the result, to roots that do not know the certificate; the file is written before.
    }
    const ours = await attach(hello, Buffer.concat([await cmsIn(golden), Buffer.from('and more')]));
    expect(ours.equals(golden)).toBe(true);
    expect(tableOf(readFileSync(at('theirs.exe'))).data).toEqual(tableOf(ours).data);
  });

  it('takes the place of a table of any kind', async () => {
    const golden = readFixture('golden/sha256-rsa2048.exe');
    const { bytes, data } = tableOf(golden);
    const cms = await cmsIn(golden);
    for (const table of [[bytes, bytes], [withHeader(data, { length: 1_000_000 })], [withHeader(data, { type: 1 })]]) {
      expect((await attach(withCertificates(golden, ...table), cms)).equals(golden)).toBe(true);
    }
  });
});

describe('a signature of the content', () => {
  it.each<[string, Peculiar, readonly string[]]>([
    ['by other code', {}, []],
    ['with MD5, however little it proves', { digest: MD5 }, ['digest-algorithm-weak']],
  ])('%s is taken', async (_what, options, codes) => {
    const result = await attach(hello, ofHello(options));
    expect(await codesOf((await (await openBytes(pe, result)).signatures())[0])).toEqual(codes);
  });

  it.each<[string, Uint8Array, RegExp]>([
    ['nothing', Buffer.of(), /cannot be read/],
    ['text', Buffer.from('signature'), /cannot be read/],
    ['content of another kind', ofHello({ contentType: '1.2.840.113549.1.7.1' }), /cannot be read/],
    ['a cabinet file', ofHello({ dataType: '1.3.6.1.4.1.311.2.1.25' }), /cabinet/],
    ['an unknown kind of file', ofHello({ dataType: '1.2.3.4' }), /unknown kind/],
    [
      'a nested signature of an unknown kind',
      nestSignature(ofHello(), ofHello({ dataType: '1.2.3.4' })),
      /unknown kind/,
    ],
    ['another program', peculiarSignature(leaf), /digest is not the one/],
    ['an unknown digest', ofHello({ digest: { oid: '1.2.3.4', name: 'sha256' } }), /not known/],
    ['a signer without a certificate', ofHello({ certificates: [] }), /certificate/],
    ['two signers', ofHello({ signers: 2 }), /2 signers/],
    ['a wrong value', flipped(ofHello()), /does not verify/],
    [
      'a nested signature of another program',
      nestSignature(ofHello(), peculiarSignature(leaf)),
      /digest is not the one/,
    ],
    ['a nested signature that is not a CMS', nestSignature(ofHello(), Buffer.of(0x30, 0)), /cannot be read/],
  ])('is not %s: not-its-signature', async (_what, cms, reason) => {
    const attempt = openBytes(pe, hello).then((file) => file.attach(cmsEnvelope(cms)));
    await expect(attempt).rejects.toMatchObject({ code: 'not-its-signature', message: expect.stringMatching(reason) });
    await expect(attempt).rejects.toMatchObject({ message: expect.not.stringMatching(/\.$/) });
  });

  it('covers the padding that the file will have', async () => {
    const odd = readFixture('pe/size-mod-8-is-5.exe');
    const { checksum, entry } = headerOffsets(odd);
    const unpadded = [odd.subarray(0, checksum), odd.subarray(checksum + 4, entry), odd.subarray(entry + 8)];
    const padded = Buffer.concat([...unpadded, Buffer.alloc(3)]);
    await attach(odd, peculiarSignature(leaf, { digested: padded }));
    const wrong = peculiarSignature(leaf, { digested: Buffer.concat(unpadded) });
    await expect(attach(odd, wrong)).rejects.toMatchObject({ code: 'not-its-signature' });
  });
});

function flipped(cms: Uint8Array): Uint8Array {
  const changed = Uint8Array.from(cms);
  changed[changed.length - 1] = (changed[changed.length - 1] ?? 0) ^ 1;
  return changed;
}

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
    expect([await codesOf(outer), await codesOf(outer?.nested[0])]).toContainEqual(['signed-kind-differs']);
    const context = signingContext({ chain: (await makeThrowawaySigner()).chain });
    await expect(file.check(context, 'append')).rejects.toMatchObject({ code: 'cannot-append' });
    await expect((await openBytes(pe, fileWith(ofHello()))).check(context, 'append')).resolves.toBeUndefined();
  });

  it('is accepted in an EFI program that names a purpose, as Debian signed some', async () => {
    const program = readFixture('pe/program.efi');
    const { checksum, entry } = headerOffsets(program);
    const digested = Buffer.concat([
      program.subarray(0, checksum),
      program.subarray(checksum + 4, entry),
      program.subarray(entry + 8),
    ]);
    const ofProgram = (dataType: string) => peculiarSignature(leaf, { digested, dataType });
    const result = await attach(program, ofProgram('1.3.6.1.4.1.311.2.1.21'));
    expect(await codesOf((await (await openBytes(pe, result)).signatures())[0])).toEqual(['signed-kind-other']);
    for (const other of ['1.3.6.1.4.1.311.2.1.22', '1.2.3.4']) {
      await expect(attach(program, ofProgram(other))).rejects.toMatchObject({ code: 'not-its-signature' });
    }
    const inHello = ofHello({ dataType: '1.3.6.1.4.1.311.2.1.21' });
    await expect(attach(hello, inHello)).rejects.toMatchObject({ code: 'not-its-signature' });
  });
});
