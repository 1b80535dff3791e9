/** Holds what happens to bytes that belong to no entry of a JAR, by where they stand, what they are and how the file is named. */

import { describe, expect, it } from 'vitest';
import { memorySource } from '../../../../src/bytes/byte-source.ts';
import type { Finding } from '../../../../src/errors/finding.ts';
import { cmsEnvelope } from '../../../../src/format/signature.ts';
import { jar } from '../../../../src/formats/jar/index.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { placeIn, removalOf, signingIn, stampIn } from '../support/change.ts';
import { plainReader, signBytes } from '../support/sign-bytes.ts';
import { apkSigningBlock, directoryOffset, recordOffsets, withBytesAt, withZip64End, zip } from './simple-zip.ts';

const SCRIPT = Buffer.from('#!/bin/sh\necho run\n');
const ZEROS = Buffer.alloc(3);

const signer = await makeThrowawaySigner();
const plain = zip([{ name: 'META-INF/MANIFEST.MF', contents: 'Manifest-Version: 1.0\r\n\r\n' }, { name: 'a' }]);
const signed = (await signBytes(jar, plain, signer)).result;

const open = (bytes: Buffer, name: string) => jar.open(memorySource(bytes), plainReader(), name);

/** `code against`, and whether `sign` takes the file. */
async function checked(bytes: Buffer, name: string): Promise<readonly string[]> {
  const file = await open(bytes, name);
  const findings = (await file.examine()).map(({ code, weight }: Finding) => `${code} ${weight}`);
  const context = signingContext({ chain: signer.chain });
  const refusal = await signingIn(file)
    .check(context, 'replace')
    .then(
      () => 'signed',
      (thrown: { readonly code: string }) => thrown.code,
    );
  return [...findings, refusal];
}

const BEFORE: Readonly<Record<string, Buffer>> = {
  'a script': SCRIPT,
  'a batch file': Buffer.from('@echo off\r\nexit\r\n'),
  'an HTML application': Buffer.from('<script>x</script>'),
  'a DEX': Buffer.from('dex\n035\0'),
  'zeros and a byte': Buffer.from([0, 0, 1]),
};

describe.each(Object.entries(BEFORE))('before the archive, %s', (_, preamble) => {
  it.each(['app.jar', 'folder/APP.JAR', 'app.war', 'app.ear', 'app.rar', 'app.aar', 'app.aab'])(
    'is reported and accepted in %s',
    async (name) => {
      expect(await checked(withBytesAt(signed, 0, preamble), name)).toEqual(['bytes-before-archive warning', 'signed']);
    },
  );

  it.each(['app.sh', 'app', 'app.jar.bat', 'app.hta', 'app.apk', 'app.jar/x', 'jar'])(
    'counts against integrity in %s',
    async (name) => {
      expect(await checked(withBytesAt(signed, 0, preamble), name)).toEqual([
        'bytes-before-archive broken',
        'jar-bytes-uncovered',
      ]);
      expect(await checked(Buffer.concat([preamble, signed]), name)).toEqual([
        'bytes-before-archive broken',
        'jar-bytes-uncovered',
      ]);
    },
  );
});

it('reports zeros before the archive, whatever the name', async () => {
  expect(await checked(withBytesAt(signed, 0, ZEROS), 'app.sh')).toEqual(['bytes-before-archive warning', 'signed']);
});

const INSIDE: Readonly<Record<string, (bytes: Uint8Array) => Buffer>> = {
  'between two records': (bytes) => withBytesAt(signed, recordOffsets(signed)[1] ?? 0, bytes),
  'before the directory': (bytes) => withBytesAt(signed, directoryOffset(signed), bytes),
  'in the ZIP64 end record': (bytes) => withZip64End(signed, bytes),
};

describe.each(Object.entries(INSIDE))('%s', (_, insert) => {
  it('counts every byte but zeros against integrity', async () => {
    expect(await checked(insert(SCRIPT), 'app.jar')).toEqual(['bytes-between-entries broken', 'jar-bytes-uncovered']);
    expect(await checked(insert(ZEROS), 'app.jar')).toEqual(['bytes-between-entries note', 'signed']);
    expect(await checked(insert(Buffer.from([0, 0, 0, 7])), 'app.jar')).toEqual([
      'bytes-between-entries broken',
      'jar-bytes-uncovered',
    ]);
    expect(await checked(insert(new Uint8Array()), 'app.jar')).toEqual(['signed']);
  });
});

describe('after the archive', () => {
  it('counts every byte but zeros against integrity', async () => {
    const behind = (bytes: Uint8Array) => checked(Buffer.concat([signed, bytes]), 'app.jar');
    expect(await behind(SCRIPT)).toEqual(['bytes-after-archive broken', 'jar-bytes-uncovered']);
    expect(await behind(ZEROS)).toEqual(['bytes-after-archive note', 'signed']);
    expect(await behind(Buffer.concat([ZEROS, Buffer.from('x')]))).toEqual([
      'bytes-after-archive broken',
      'jar-bytes-uncovered',
    ]);
  });

  it('says nothing of the comment of the archive, and finds what follows it', async () => {
    const commented = Buffer.concat([signed, Buffer.from('comment')]);
    commented.writeUInt16LE(7, signed.length - 2);
    expect(await checked(commented, 'app.jar')).toEqual(['signed']);
    expect(await checked(Buffer.concat([commented, SCRIPT]), 'app.jar')).toEqual([
      'bytes-after-archive broken',
      'jar-bytes-uncovered',
    ]);
  });
});

describe('an APK Signing Block', () => {
  const withBlock = (bytes: Uint8Array) => withBytesAt(signed, directoryOffset(signed), bytes);
  const block = apkSigningBlock(Buffer.from('signature'));
  const changed = (change: (bytes: Buffer) => void) => {
    const bytes = Buffer.from(block);
    change(bytes);
    return bytes;
  };

  it('is reported and accepted, also after zeros', async () => {
    expect(await checked(withBlock(block), 'app.jar')).toEqual(['apk-signing-block warning', 'signed']);
    expect(await checked(withBlock(Buffer.concat([ZEROS, block])), 'app.jar')).toEqual([
      'bytes-between-entries note',
      'apk-signing-block warning',
      'signed',
    ]);
  });

  it.each([
    ['other bytes before it', Buffer.concat([SCRIPT, block])],
    ['bytes behind it', Buffer.concat([block, SCRIPT])],
    ['two sizes', changed((bytes) => bytes.writeUInt8(bytes.readUInt8(0) + 1, 0))],
    ['a pair that reaches beyond it', changed((bytes) => bytes.writeUInt8(200, 8))],
    ['bytes that are no pair', changed((bytes) => bytes.writeUInt8(bytes.readUInt8(8) - 1, 8))],
    ['a magic alone', block.subarray(-16)],
    ['a size beyond the archive', changed((bytes) => bytes.writeUInt32LE(0x7fffffff, bytes.length - 24))],
  ])('is not exempt with %s', async (_, bytes) => {
    const findings = await checked(withBlock(bytes), 'app.jar');
    expect(findings).toContain('bytes-between-entries broken');
    expect(findings).toContain('jar-bytes-uncovered');
  });

  it('is not exempt between two records', async () => {
    const bytes = withBytesAt(signed, recordOffsets(signed)[1] ?? 0, block);
    expect(await checked(bytes, 'app.jar')).toEqual(['bytes-between-entries broken', 'jar-bytes-uncovered']);
  });
});

describe('a file with uncovered bytes', () => {
  it('gets no timestamp and no envelope, and its signature can be taken out', async () => {
    const file = await open(Buffer.concat([signed, SCRIPT]), 'app.jar');
    const code = 'jar-bytes-uncovered';
    await expect(stampIn(file, new Map())).rejects.toMatchObject({ code });
    await expect(placeIn(file, cmsEnvelope(new Uint8Array()))).rejects.toMatchObject({ code });
    await expect(removalOf(file)).resolves.toBeDefined();
  });
});
