/** Attaching, stamping and removing signatures in PE files, and the check of the result. */

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { SPC_INDIRECT_DATA } from '../../../../src/asn1/object-identifiers.ts';
import { nestSignature } from '../../../../src/authenticode/authenticode-file.ts';
import { parseSignedData } from '../../../../src/cms/parse-signed-data.ts';
import { pe } from '../../../../src/formats/pe/index.ts';
import { signedByOpenssl } from '../../../support/programs/openssl.ts';
import { folderForAll } from '../../../support/set-up.ts';
import { makePki } from '../../../support/signed-files/pki.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { run } from '../../../system/interop/verifiers.ts';
import { MD5, type Peculiar, peculiarSignature } from '../../authenticode/peculiar-signature.ts';
import { applyPatch } from '../support/apply-patch.ts';
import { checkIn, removalOf, signingIn, stampIn, warningsOf } from '../support/change.ts';
import { readFixture } from '../support/fixtures.ts';
import { codesIn, codesOf } from '../support/is-intact.ts';
import { attachBytes, openBytes, signBytes } from '../support/sign-bytes.ts';
import { headerOffsets, slowContent } from './slow-pe.ts';
import { changed, tableOf, withCertificates, withHeader } from './tables.ts';

const hello = readFixture('pe/hello.exe');
const signed = readFixture('golden/sha256-rsa2048.exe');
const { checksum, entry } = headerOffsets(signed);
const { bytes: table, length: tableLength } = tableOf(signed);
const twoEntries = withCertificates(signed, table, table);
const EMPTY = Buffer.of(0x30, 0);
const folder = folderForAll();
const at = (name: string) => path.join(folder, name);
const leaf = makePki().leaf();
const signer = await makeThrowawaySigner();
const context = signingContext({ chain: signer.chain });
const ofHello = (options: Peculiar = {}) => peculiarSignature(leaf, { file: slowContent(hello), ...options });
const attach = (bytes: Buffer, cms: Uint8Array) => attachBytes(pe, bytes, cms);
const refusal = { code: 'not-its-signature' };

describe('attaching', () => {
  it('takes a signature with MD5, however little it proves', async () => {
    expect(await codesIn(pe, await attach(hello, ofHello({ digest: MD5 })))).toEqual(['digest-algorithm-weak']);
  });

  it('rejects a signature in which one of another program is nested', async () => {
    const message = expect.stringMatching(/digest differs from the signed one/);
    const cms = nestSignature(ofHello(), peculiarSignature(leaf));
    await expect(attach(hello, cms)).rejects.toMatchObject({ ...refusal, message });
  });

  it('takes a signature over the padding that the file will have, and none without it', async () => {
    const odd = readFixture('pe/size-mod-8-is-5.exe');
    const digested = slowContent(odd);
    await attach(odd, peculiarSignature(leaf, { file: Buffer.concat([digested, Buffer.alloc(3)]) }));
    await expect(attach(odd, peculiarSignature(leaf, { file: digested }))).rejects.toMatchObject(refusal);
  });

  it('takes a signature of an EFI program that names a purpose, as Debian signed some', async () => {
    const program = readFixture('pe/program.efi');
    const dataType = '1.3.6.1.4.1.311.2.1.21';
    const cms = peculiarSignature(leaf, { file: slowContent(program), dataType });
    expect(await codesIn(pe, await attach(program, cms))).toEqual(['signed-kind-other']);
    await expect(attach(hello, ofHello({ dataType }))).rejects.toMatchObject(refusal);
  });

  it.each([
    ['in one piece', []],
    ['in pieces, in BER', ['-stream']],
  ])('takes a signature of openssl with its content in an OCTET STRING %s, next to another', async (_, more) => {
    const { sealed } = await signBytes(pe, hello, signer);
    const content = parseSignedData(sealed).content?.bytes ?? '';
    const cms = signedByOpenssl(content, leaf, ['-econtent_type', SPC_INDIRECT_DATA, '-nodetach', ...more]);
    await expect(attach(Buffer.concat([hello, Buffer.alloc(8, 1)]), cms)).rejects.toMatchObject(refusal);
    const both = await signBytes(pe, await attach(hello, cms), signer, { mode: 'append', algorithm: 'SHA512' });
    const [outer] = await (await openBytes(pe, both.result)).signatures();
    expect(await codesOf(outer)).toEqual([]);
    expect(await codesOf(outer?.contained[0]?.signature)).toEqual([]);
  });
});

it('nothing is appended to a signature in which a broken one is nested', async () => {
  const cms = nestSignature(ofHello(), ofHello({ dataType: '1.2.3.4' }));
  const file = await openBytes(pe, withCertificates(signed, withHeader(cms)));
  const [outer] = await file.signatures();
  expect(await codesOf(outer?.contained[0]?.signature)).toEqual(['signed-kind-differs']);
  await expect(checkIn(file, pe, context, 'append')).rejects.toMatchObject({ code: 'cannot-append' });
});

it('one of two entries is not stamped: cannot-stamp', async () => {
  const file = await openBytes(pe, twoEntries);
  const [signature = expect.unreachable()] = await file.signatures();
  const attempt = stampIn(file, new Map([[signature, EMPTY]]));
  await expect(attempt).rejects.toMatchObject({ code: 'cannot-stamp', category: 'local' });
});

describe('removing', () => {
  const remove = async (bytes: Buffer) => applyPatch(bytes, await removalOf(await openBytes(pe, bytes)));

  it.each(['pe/size-mod-8-is-7.exe', 'pe/stale-entry.exe', 'golden/appended-twice.exe'])(
    'leaves of %s what osslsigncode leaves',
    async (name) => {
      const { result } = await signBytes(pe, readFixture(name), signer);
      const [ours, theirs] = [at('signed'), at(path.basename(name))];
      writeFileSync(ours, result);
      await run('osslsigncode', ['remove-signature', '-in', ours, '-out', theirs]);
      const removed = await remove(result);
      expect(removed.equals(readFileSync(theirs))).toBe(true);
      const file = await openBytes(pe, removed);
      expect([await file.signatures(), await file.examine(), await warningsOf(file)]).toEqual([[], [], []]);
    },
  );

  it('keeps nothing of a table with several entries, or with other data', async () => {
    const plain = await remove(signed);
    for (const bytes of [twoEntries, withCertificates(signed, Buffer.alloc(16, 7))])
      expect((await remove(bytes)).equals(plain)).toBe(true);
  });
});

it.each([
  ['a wrong checksum', changed(signed, (copy) => copy.writeUInt32LE(0, checksum), false)],
  ['zeros after the certificate', withCertificates(signed, table, Buffer.alloc(8))],
  ['a missing last byte in the entry', changed(signed, (copy) => copy.writeUInt32LE(tableLength - 1, entry + 4))],
])('the check of the result sees %s', async (_, bytes) => {
  const [{ envelope } = expect.unreachable()] = await (await openBytes(pe, signed)).signatures();
  const checking = signingIn(await openBytes(pe, bytes)).verify({ added: [envelope], envelopes: [envelope] });
  await expect(checking).rejects.toMatchObject({ code: 'result-damaged' });
});
