import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { type ByteSource, memorySource } from '../../../src/bytes/byte-source.ts';
import { hashWhileRead } from '../../../src/crypto/hash-while-read.ts';
import type { Format } from '../../../src/format/format.ts';
import { appx } from '../../../src/formats/appx/index.ts';
import { jar } from '../../../src/formats/jar/index.ts';
import { nuget } from '../../../src/formats/nuget/index.ts';
import { pe } from '../../../src/formats/pe/index.ts';
import { makeThrowawaySigner } from '../../support/signed-files/throwaway-signer.ts';
import { makePackage as makeAppPackage } from '../formats/appx/samples.ts';
import { zip } from '../formats/jar/simple-zip.ts';
import { makePackage } from '../formats/nuget/samples.ts';
import { signingIn } from '../formats/support/change.ts';
import { readFixture } from '../formats/support/fixtures.ts';
import { plainReader, signBytes } from '../formats/support/sign-bytes.ts';

const MEBIBYTE = 1024 * 1024;

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
/** Not compressible, and the same in each run. */
const noise = (length: number) => createHash('shake256', { outputLength: length }).update('noise').digest();

/** Reads in pieces, as files are read, and counts the bytes. */
function countingSource(bytes: Buffer): ByteSource & { readonly count: () => number } {
  const source = memorySource(bytes);
  let count = 0;
  return {
    size: bytes.length,
    count: () => count,
    async read(offset, length) {
      count += length;
      await new Promise(setImmediate);
      return await source.read(offset, length);
    },
    async *stream(start = 0, end = bytes.length) {
      for (let at = start; at < end; at += 100_000) {
        const length = Math.min(100_000, end - at);
        count += length;
        yield await source.read(at, length);
      }
    },
  };
}

it.each([1, 2, 3, 4, 5])('gives the digest whatever is read, in whatever order and concurrently (%d)', async (seed) => {
  const bytes = noise(300_000);
  const { source, ...hashed } = hashWhileRead(countingSource(bytes));
  const offsets = Array.from({ length: 40 }, (_, index) => (index * seed * 7919) % (bytes.length - 20_000));
  const reading = offsets.map(async (offset) => {
    expect(Buffer.compare(await source.read(offset, 20_000), bytes.subarray(offset, offset + 20_000))).toBe(0);
  });
  await Promise.all([...reading, Readable.from(source.stream(0, 250_000)).toArray()]);
  expect(await hashed.sha256()).toBe(sha256(bytes));
});

const LARGE = noise(MEBIBYTE);
const entries = Array.from({ length: 4 }, (_, index) => ({
  name: `data/${index}.bin`,
  contents: noise(100_000 + 4 * index),
}));

it.each<[Format, Buffer]>([
  [pe, Buffer.concat([readFixture('pe/hello.exe'), LARGE])],
  [jar, zip([{ name: 'large.bin', contents: LARGE, isStored: true }, ...entries])],
  [nuget, makePackage(...entries)],
  [appx, makeAppPackage({ files: entries.map((entry) => ({ ...entry, isStored: true })) })],
])('digests the result of %# in the pass that checks it', async (format, original) => {
  const signer = await makeThrowawaySigner();
  const { result, embedding } = await signBytes(format, original, signer);
  const counting = countingSource(result);
  const { source, ...hashed } = hashWhileRead(counting);
  await signingIn(await format.open(source, plainReader(), `test${format.extensions[0]}`)).verify(embedding);
  const checked = counting.count();
  expect(await hashed.sha256()).toBe(sha256(result));
  expect(counting.count() - checked).toBeLessThan(128 * 1024);
});
