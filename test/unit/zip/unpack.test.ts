/** Contents of entries: digested whole or in pieces, from memory or a file; what lies about its size is rejected. */

import { createHash, randomBytes } from 'node:crypto';
import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { memorySource } from '../../../src/bytes/byte-source.ts';
import { fileSource } from '../../../src/bytes/file-source.ts';
import { readArchive } from '../../../src/zip/archive.ts';
import { digestEntries } from '../../../src/zip/entry-digests.ts';
import { folderForAll } from '../../support/set-up.ts';
import { buildZip, DEFLATED, type EntryParts, STORED } from './support/zip-builder.ts';

const MIB = 1024 * 1024;
const digestOf = (contents: Uint8Array, algorithm = 'sha256'): string =>
  createHash(algorithm).update(contents).digest('base64');
/** Half of it deflates well, half not at all. */
const mixed = (length: number): Buffer => Buffer.concat([Buffer.alloc(length / 2, 'abc'), randomBytes(length / 2)]);

const folder = folderForAll();

/** An entry whose records tell the truth, or what `about` says. The builder's own deflate is for small contents. */
function entryOf(name: string, contents: Buffer, method: number, about: Partial<EntryParts> = {}): EntryParts {
  const data = about.data ?? (method === DEFLATED ? packed(contents) : contents);
  return { name, method, data, size: contents.length, crc: crc32(contents), ...about };
}

async function digestsIn(kind: string, bytes: Buffer, algorithms: readonly string[] = ['sha256']): Promise<string[][]> {
  const path = join(folder, 'archive.zip');
  await writeFile(path, bytes);
  await using handle = await open(path);
  const source = kind === 'memory' ? memorySource(bytes) : fileSource(handle, bytes.length);
  const { entries } = await readArchive(source);
  const digests = await digestEntries(source, entries, algorithms);
  return entries.map((_, position) => algorithms.map((algorithm) => digests.base64(position, algorithm)));
}

const large = mixed(1.25 * MIB);
const packedLarge = deflateRawSync(large);
const packed = (contents: Buffer): Buffer => (contents === large ? packedLarge : deflateRawSync(contents));
const ZEROS = Buffer.alloc(2 * MIB);

describe.each(['memory', 'file'])('digests of entries, from %s', (kind) => {
  it('match the contents, with every algorithm, small and large, stored and deflated', async () => {
    const small = Buffer.from('small');
    const limit = mixed(MIB);
    const contents = [small, large, Buffer.alloc(0), limit, small, Buffer.alloc(2 * MIB), large, Buffer.alloc(0)];
    const entries = contents.map((each, index) => entryOf(`${index}`, each, index % 3 === 0 ? STORED : DEFLATED));
    const algorithms = ['sha1', 'sha256', 'sha512'];
    const expected = contents.map((each) => algorithms.map((algorithm) => digestOf(each, algorithm)));
    expect(await digestsIn(kind, buildZip({ entries }), algorithms)).toEqual(expected);
  });

  it('are those of the contents where records are in another order than the directory, with gaps', async () => {
    const contents = Array.from({ length: 7 }, (_, index) => mixed(200_000 + index * 2));
    const entries = contents.map((each, index) => entryOf(`${index}`, each, STORED, { gap: Buffer.alloc(index) }));
    const bytes = buildZip({ entries, localOrder: [3, 6, 0, 5, 1, 4, 2] });
    expect(await digestsIn(kind, bytes)).toEqual(contents.map((each) => [digestOf(each)]));
  });

  it('are those of nothing for an empty entry, deflated as a stored block', async () => {
    const entries = [{ name: 'x', contents: '', method: DEFLATED, data: Buffer.of(1, 0, 0, 0xff, 0xff) }];
    expect(await digestsIn(kind, buildZip({ entries }))).toEqual([[digestOf(Buffer.alloc(0))]]);
  });

  const contents = Buffer.from('contents');
  const wrong = { crc: 0x12345678 };
  const size = (by: number) => (each: Buffer) => ({ size: each.length + by });
  const lies: [string, number, (each: Buffer) => Partial<EntryParts>, RegExp][] = [
    ['another CRC-32', STORED, () => wrong, /CRC-32/],
    ['another CRC-32', DEFLATED, () => wrong, /CRC-32/],
    ['more contents than it says', DEFLATED, size(-1), /more than|instead of/],
    ['less contents than it says', DEFLATED, size(1), /instead of/],
    ['no contents although it says some', DEFLATED, () => ({ data: Buffer.of(3, 0) }), /0 bytes/],
    ['bytes behind its data', DEFLATED, (each) => ({ data: Buffer.concat([packed(each), ZEROS]) }), /bytes follow/],
    ['compressed data cut off', DEFLATED, (each) => ({ data: packed(each).subarray(0, -1) }), /unexpected end/],
    ['a block of an unknown type', DEFLATED, (each) => ({ data: Buffer.alloc(each.length, 7) }), /invalid block type/],
  ];
  const [what, each] = kind === 'memory' ? ['a small entry', contents] : ['a large entry', large];
  it.each(lies)(`are rejected for ${what} with %s (method %i)`, async (_lie, method, about, message) => {
    const entries = [entryOf('before', contents, STORED), entryOf('x', each, method, about(each))];
    const failing = expect(digestsIn(kind, buildZip({ entries }))).rejects;
    await failing.toMatchObject({ code: 'zip-entry-damaged', message: expect.stringMatching(message) });
  });
});

it('digests are rejected for an entry that says 10 bytes and inflates to 30 MB, without its contents in memory', async () => {
  const data = deflateRawSync(Buffer.alloc(30_000_000));
  const bytes = buildZip({ entries: [entryOf('bomb', Buffer.alloc(10), DEFLATED, { data })] });
  const before = process.memoryUsage.rss();
  await expect(digestsIn('file', bytes)).rejects.toMatchObject({ code: 'zip-entry-damaged' });
  expect(process.memoryUsage.rss() - before).toBeLessThan(25_000_000);
});
