import { describe, expect, it } from 'vitest';
import { memorySource } from '../../../../src/bytes/byte-source.ts';
import { cmsEnvelope } from '../../../../src/format/signature.ts';
import { jar } from '../../../../src/formats/jar/index.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { placeIn, removalOf, signingIn, stampIn } from '../support/change.ts';
import { plainReader, signBytes } from '../support/sign-bytes.ts';
import { apkSigningBlock, jarOf, unzip, zip } from './simple-zip.ts';

const SCRIPT = Buffer.from('#!/bin/sh\necho run\n');
const ZEROS = Buffer.alloc(3);

const signer = await makeThrowawaySigner();
const signed = (await signBytes(jar, jarOf('Manifest-Version: 1.0\r\n\r\n', 'a'), signer)).result;

const around = (more: Parameters<typeof zip>[1]) => zip(unzip(signed), more);
const between = (gap: Uint8Array) =>
  zip(unzip(signed).map((entry, index) => (index === 1 ? { ...entry, gap } : entry)));

const open = (bytes: Buffer, name: string) => jar.open(memorySource(bytes), plainReader(), name);

/** `code weight` of each finding, and whether `sign` takes the file. */
async function checked(bytes: Buffer, name = 'app.jar'): Promise<readonly string[]> {
  const file = await open(bytes, name);
  const findings = (await file.examine()).map(({ code, weight }) => `${code} ${weight}`);
  const checking = signingIn(file).check(signingContext({ chain: signer.chain }), 'replace');
  const outcome = await checking.then(
    () => 'signed',
    (thrown: { readonly code: string }) => thrown.code,
  );
  return [...findings, outcome];
}

const refused = (where: string) => [`bytes-${where} broken`, 'jar-bytes-uncovered'];

it('accepts a script, a DEX or other bytes before the archive in a file with a name of a JAR, and zeros in any', async () => {
  const accepted = ['bytes-before-archive warning', 'signed'];
  for (const preamble of [SCRIPT, Buffer.from('dex\n035\0'), Buffer.from([0, 0, 1])]) {
    for (const name of ['app.jar', 'folder/APP.JAR', 'app.war', 'app.ear', 'app.rar', 'app.aar', 'app.aab'])
      expect(await checked(around({ preamble }), name)).toEqual(accepted);
    for (const name of ['app.sh', 'app', 'app.jar.bat', 'app.hta', 'app.apk', 'app.jar/x', 'jar'])
      for (const bytes of [around({ preamble }), Buffer.concat([preamble, signed])])
        expect(await checked(bytes, name)).toEqual(refused('before-archive'));
  }
  expect(await checked(around({ preamble: ZEROS }), 'app.sh')).toEqual(accepted);
});

it.each<[string, (bytes: Uint8Array) => Buffer, where: string]>([
  ['between two records', between, 'between-entries'],
  ['before the directory', (gap) => around({ gap }), 'between-entries'],
  ['in the ZIP64 end record', (zip64Data) => around({ zip64: true, zip64Data }), 'between-entries'],
  ['after the archive', (bytes) => Buffer.concat([signed, bytes]), 'after-archive'],
])('%s, counts every byte but zeros against integrity', async (_, insert, where) => {
  expect(await checked(insert(Buffer.of()))).toEqual(['signed']);
  expect(await checked(insert(ZEROS))).toEqual([`bytes-${where} note`, 'signed']);
  for (const bytes of [SCRIPT, Buffer.from([0, 0, 0, 7])]) expect(await checked(insert(bytes))).toEqual(refused(where));
});

describe('an APK Signing Block', () => {
  const withBlock = (gap: Uint8Array) => around({ gap });
  const block = apkSigningBlock(Buffer.from('signature'));
  const changed = (change: (bytes: Buffer) => void) => {
    const bytes = Buffer.from(block);
    change(bytes);
    return bytes;
  };

  it('is reported and accepted before the directory, also after zeros', async () => {
    const accepted = ['apk-signing-block warning', 'signed'];
    expect(await checked(withBlock(block))).toEqual(accepted);
    const afterZeros = await checked(withBlock(Buffer.concat([ZEROS, block])));
    expect(afterZeros).toEqual(['bytes-between-entries note', ...accepted]);
    expect(await checked(between(block))).toEqual(refused('between-entries'));
  });

  it.each([
    ['bytes behind it', Buffer.concat([block, SCRIPT])],
    ['two sizes', changed((bytes) => bytes.writeUInt8(bytes.readUInt8(0) + 1, 0))],
    ['a magic alone', block.subarray(-16)],
    ['a size beyond the archive', changed((bytes) => bytes.writeUInt32LE(0x7fffffff, bytes.length - 24))],
  ])('is not exempt with %s', async (_, bytes) => {
    expect(await checked(withBlock(bytes))).toEqual(expect.arrayContaining(refused('between-entries')));
  });
});

it('stamps and attaches nothing in a file with uncovered bytes, and removes its signature', async () => {
  const file = await open(Buffer.concat([signed, SCRIPT]), 'app.jar');
  const refusal = { code: 'jar-bytes-uncovered' };
  await expect(stampIn(file, new Map())).rejects.toMatchObject(refusal);
  await expect(placeIn(file, cmsEnvelope(new Uint8Array()))).rejects.toMatchObject(refusal);
  await expect(removalOf(file)).resolves.toBeDefined();
});
