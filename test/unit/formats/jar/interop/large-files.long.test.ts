/** A JAR of more than 4 GiB: offsets beyond 32 bits, read by Java, and no memory that grows with the file. */

import { mkdtempSync, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fileSource } from '../../../../../src/bytes/file-source.ts';
import type { Patch } from '../../../../../src/bytes/patch.ts';
import { readPieces } from '../../../../../src/bytes/pieces.ts';
import { jar } from '../../../../../src/formats/jar/index.ts';
import { jarsignerVerify, mainJava, makeTruststore } from '../../../../support/programs/java.ts';
import { signingContext } from '../../../../support/signed-files/signing-context.ts';
import {
  chainFromPem,
  makeThrowawaySigner,
  type ThrowawaySigner,
} from '../../../../support/signed-files/throwaway-signer.ts';
import { plainReader } from '../../support/sign-bytes.ts';

const MIB = 2 ** 20;
/** Of the entry that makes the archive large: a hole, so that it takes no room on the disk. */
const HOLE = 4 * 1024 * MIB + 5 * MIB;
const DATE = 0x5a21;
const VERSION = 45;

let folder: string;
let signer: ThrowawaySigner;
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'codesign-large-jar-'));
  const { leaf, intermediate, root, sign } = await makeThrowawaySigner();
  signer = { leaf, intermediate, root, sign, chain: await chainFromPem(leaf, intermediate, root) };
});
afterAll(() => rmSync(folder, { recursive: true }));

function crcOfZeros(length: number): number {
  const zeros = Buffer.alloc(16 * MIB);
  let checksum = 0;
  for (let left = length; left > 0; left -= zeros.length) {
    checksum = crc32(zeros.subarray(0, Math.min(left, zeros.length)), checksum);
  }
  return checksum;
}

/** A field of 64 bits each, under the header ID of ZIP64. */
function zip64(...values: readonly number[]): Buffer {
  const extra = Buffer.alloc(4 + values.length * 8);
  extra.writeUInt16LE(1, 0);
  extra.writeUInt16LE(values.length * 8, 2);
  for (const [index, value] of values.entries()) extra.writeBigUInt64LE(BigInt(value), 4 + index * 8);
  return extra;
}

/** What a local header and a directory record have in common, from "version needed" on. */
function common(name: string, checksum: number, size: number, extra: Buffer): Buffer {
  const field = Math.min(size, 0xffffffff);
  const fields = Buffer.alloc(26);
  fields.writeUInt16LE(VERSION, 0);
  fields.writeUInt16LE(DATE, 8);
  fields.writeUInt32LE(checksum, 10);
  fields.writeUInt32LE(field, 14);
  fields.writeUInt32LE(field, 18);
  fields.writeUInt16LE(name.length, 22);
  fields.writeUInt16LE(extra.length, 24);
  return fields;
}

/** META-INF/MANIFEST.MF, the hole, and a small entry that begins beyond 4 GiB, all stored. */
async function makeLarge(handle: FileHandle): Promise<void> {
  const manifest = Buffer.from('Manifest-Version: 1.0\r\n\r\n');
  const last = Buffer.from('the end');
  const entries = [
    { name: 'META-INF/MANIFEST.MF', size: manifest.length, checksum: crc32(manifest), contents: manifest },
    { name: 'large.bin', size: HOLE, checksum: crcOfZeros(HOLE), contents: undefined },
    { name: 'small.txt', size: last.length, checksum: crc32(last), contents: last },
  ];
  const records: Buffer[] = [];
  let offset = 0;
  for (const { name, size, checksum, contents } of entries) {
    const isLarge = size > 0xffffffff;
    const localExtra = isLarge ? zip64(size, size) : Buffer.alloc(0);
    const fields = common(name, checksum, size, localExtra);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), fields, Buffer.from(name), localExtra]);
    await handle.write(local, 0, local.length, offset);
    if (contents !== undefined) await handle.write(contents, 0, contents.length, offset + local.length);

    const isFar = offset > 0xffffffff;
    const extra = isLarge ? zip64(size, size) : isFar ? zip64(offset) : Buffer.alloc(0);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(Math.min(offset, 0xffffffff), 10);
    const head = Buffer.from([0x50, 0x4b, 1, 2, VERSION, 0]);
    records.push(Buffer.concat([head, common(name, checksum, size, extra), tail, Buffer.from(name), extra]));
    offset += local.length + size;
  }
  const directory = Buffer.concat(records);
  const end = Buffer.alloc(56 + 20 + 22);
  end.write('PK\x06\x06', 0, 'latin1');
  end.writeBigUInt64LE(44n, 4);
  for (const [at, value] of [
    [24, 3],
    [32, 3],
    [40, directory.length],
    [48, offset],
    [56 + 8, offset + directory.length],
  ] as const) {
    end.writeBigUInt64LE(BigInt(value), at);
  }
  end.write('PK\x06\x07', 56, 'latin1');
  end.writeUInt32LE(1, 56 + 16);
  end.write('PK\x05\x06', 76, 'latin1');
  end.fill(0xff, 76 + 8, 76 + 20);
  await handle.write(Buffer.concat([directory, end]), 0, directory.length + end.length, offset);
}

/** Applies the patch to another file, whose hole stays one. */
async function applySparsely(original: FileHandle, patch: Patch, result: FileHandle): Promise<void> {
  const { size } = await original.stat();
  let read = 0;
  let written = 0;
  const copyUpTo = async (end: number): Promise<void> => {
    const chunk = Buffer.alloc(MIB);
    const zeros = Buffer.alloc(MIB);
    while (read < end) {
      const { bytesRead } = await original.read(chunk, 0, Math.min(chunk.length, end - read), read);
      const part = chunk.subarray(0, bytesRead);
      if (!part.equals(zeros.subarray(0, part.length))) await result.write(part, 0, part.length, written);
      read += bytesRead;
      written += bytesRead;
    }
  };
  for (const { offset, remove, insert } of patch) {
    await copyUpTo(offset);
    for await (const bytes of readPieces(fileSource(original, size), insert)) {
      await result.write(bytes, 0, bytes.length, written);
      written += bytes.length;
    }
    read = offset + remove;
  }
  await copyUpTo(size);
  await result.truncate(written);
}

const openLarge = async (handle: FileHandle) =>
  jar.open(fileSource(handle, (await handle.stat()).size), plainReader(), 'test.jar');

describe('an archive of more than 4 GiB', () => {
  it('is signed, checked, and accepted by jarsigner', async () => {
    const file = path.join(folder, 'large.jar');
    const signed = path.join(folder, 'signed.jar');
    await using original = await open(file, 'w+');
    await using result = await open(signed, 'w+');
    await makeLarge(original);
    const before = process.memoryUsage().rss;
    const prepared = await (await openLarge(original)).prepare(signingContext({ chain: signer.chain }), 'replace');
    const embedding = prepared.embed(prepared.seal(signer.sign(prepared.toBeSigned, 'SHA256')));
    await applySparsely(original, embedding.patch, result);
    await (await openLarge(result)).verifyResult(embedding);
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * MIB);

    const store = makeTruststore(signer.root, folder);
    const verdict = await jarsignerVerify(mainJava(), store, signed);
    expect(verdict).toMatchObject({ accepted: true, warnings: [] });
    expect(verdict.output).toMatch(/^jar verified/m);
  });
});
