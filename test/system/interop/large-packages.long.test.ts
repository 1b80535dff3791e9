/** Archives around and beyond 4 GiB: an MSIX is signed by the command line in little memory, a JAR with ZIP64 records for jarsigner, NuGet packages are rejected. */

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32, inflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { fileSource } from '../../../src/bytes/file-source.ts';
import { patchedSource } from '../../../src/bytes/patched-source.ts';
import { jar } from '../../../src/formats/jar/index.ts';
import { nuget } from '../../../src/formats/nuget/index.ts';
import { temporaryFolder } from '../../support/programs/cli.ts';
import { jarsignerVerify, mainJava, makeTruststore } from '../../support/programs/java.ts';
import { runMeasured } from '../../support/programs/measured-cli.ts';
import { isInSample } from '../../support/sample.ts';
import { useServer } from '../../support/services/shared-server.ts';
import { forAll } from '../../support/set-up.ts';
import { SERVER_PUBLISHER } from '../../support/signed-files/made-inputs.ts';
import { signingContext } from '../../support/signed-files/signing-context.ts';
import { contentTypes, packageManifest } from '../../unit/formats/appx/samples.ts';
import { sealedBy, signingIn } from '../../unit/formats/support/change.ts';
import { plainReader } from '../../unit/formats/support/sign-bytes.ts';
import { makeRootedSigner } from './rooted-signer.ts';

const MIB = 2 ** 20;
/** The block map, of 65,600 blocks, has 5 MiB; libsql, which Node.js 20 needs, about as much. */
const MOST_MEMORY = 110 * MIB;
const BLOCK = 65_536;
const ZIP64_MARK = 0xffff_ffff;

const server = await forAll(useServer({ bits: 2048 }));
const folder = await forAll(temporaryFolder('codesign-large-packages-'));

/** Stored; a number stands for so many zeros, which take no space on the disk. `gap`: zeros in front of it that are of no entry. */
type Entries = readonly (readonly [name: string, contents: string | number, gap?: number])[];

/** ZIP64 has every value in 64 bits; makeappx writes it with data descriptors. */
type Layout = 'short' | 'ZIP64' | 'ZIP64 with descriptors';

async function writeArchive(path: string, entries: Entries, layout: Layout): Promise<void> {
  const isZip64 = layout !== 'short';
  const hasDescriptors = layout === 'ZIP64 with descriptors';
  await using handle = await open(path, 'w');
  const directory: Buffer[] = [];
  let offset = 0;
  const write = async (file: FileHandle, bytes: Buffer) => {
    await file.write(bytes, 0, bytes.length, offset);
    offset += bytes.length;
  };
  for (const [name, contents, gap = 0] of entries) {
    offset += gap;
    const size = typeof contents === 'number' ? contents : Buffer.byteLength(contents);
    const checksum = typeof contents === 'number' ? crcOfZeros(contents) : crc32(contents);
    const start = offset;
    const common = { name, checksum, hasDescriptors };
    const localExtra =
      layout === 'ZIP64' ? Buffer.concat([numbers(2, 1, 16), numbers(8, size, size)]) : Buffer.alloc(0);
    const localSize = hasDescriptors ? 'later' : isZip64 ? 'in ZIP64' : size;
    const local = fieldsOf('PK\x03\x04', common, localSize, localExtra.length);
    await write(handle, Buffer.concat([local, Buffer.from(name), localExtra]));
    if (typeof contents === 'number') offset += contents;
    else await write(handle, Buffer.from(contents));
    if (hasDescriptors)
      await write(handle, Buffer.concat([Buffer.from('PK\x07\x08'), numbers(4, checksum), numbers(8, size, size)]));
    const extra = isZip64 ? Buffer.concat([numbers(2, 1, 24), numbers(8, size, size, start)]) : Buffer.alloc(0);
    const fields = fieldsOf('PK\x01\x02\x2d\x00', common, isZip64 ? 'in ZIP64' : size, extra.length);
    const rest = Buffer.concat([Buffer.alloc(10), numbers(4, isZip64 ? ZIP64_MARK : start)]);
    directory.push(Buffer.concat([fields, rest, Buffer.from(name), extra]));
  }
  const [start, records] = [offset, Buffer.concat(directory)];
  await write(handle, records);
  const count = entries.length;
  if (isZip64) {
    const recordOffset = offset;
    const versions = numbers(2, 45, 45);
    const values = numbers(8, count, count, records.length, start);
    await write(handle, Buffer.concat([Buffer.from('PK\x06\x06'), numbers(8, 44), versions, Buffer.alloc(8), values]));
    await write(
      handle,
      Buffer.concat([Buffer.from('PK\x06\x07'), numbers(4, 0), numbers(8, recordOffset), numbers(4, 1)]),
    );
  }
  const [counts, place] = isZip64
    ? [numbers(2, 0xffff, 0xffff), numbers(4, ZIP64_MARK, ZIP64_MARK)]
    : [numbers(2, count, count), numbers(4, records.length, start)];
  await write(handle, Buffer.concat([Buffer.from('PK\x05\x06'), Buffer.alloc(4), counts, place, Buffer.alloc(2)]));
}

/** Up to the lengths of name and extra field. */
function fieldsOf(
  signature: string,
  {
    name,
    checksum,
    hasDescriptors,
  }: { readonly name: string; readonly checksum: number; readonly hasDescriptors: boolean },
  size: number | 'later' | 'in ZIP64',
  extra: number,
): Buffer {
  const sizes = { later: [0, 0, 0], 'in ZIP64': [checksum, ZIP64_MARK, ZIP64_MARK] } as const;
  const isLong = typeof size === 'string';
  const values = isLong ? sizes[size] : [checksum, size, size];
  const start = numbers(2, isLong ? 45 : 20, hasDescriptors ? 8 : 0, 0, 0, 0x21);
  return Buffer.concat([
    Buffer.from(signature, 'latin1'),
    start,
    numbers(4, ...values),
    numbers(2, name.length, extra),
  ]);
}

function numbers(length: 2 | 4 | 8, ...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(length * values.length);
  for (const [index, value] of values.entries()) {
    if (length === 8) bytes.writeBigUInt64LE(BigInt(value), index * 8);
    else bytes.writeUIntLE(value, index * length, length);
  }
  return bytes;
}

function crcOfZeros(length: number): number {
  const zeros = Buffer.alloc(16 * MIB);
  let checksum = 0;
  for (let left = length; left > 0; left -= zeros.length) {
    checksum = crc32(zeros.subarray(0, Math.min(left, zeros.length)), checksum);
  }
  return checksum;
}

function blockMap(files: Entries): string {
  const zeros = Buffer.alloc(BLOCK);
  const digestOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('base64');
  const ofZeros = `<Block Hash="${digestOf(zeros)}"/>`;
  const listed = files.map(([name, contents]) => {
    const size = typeof contents === 'number' ? contents : contents.length;
    const last = typeof contents === 'number' ? zeros.subarray(0, size % BLOCK) : Buffer.from(contents);
    const blocks =
      ofZeros.repeat(Math.floor(size / BLOCK)) + (last.length > 0 ? `<Block Hash="${digestOf(last)}"/>` : '');
    return `<File Name="${name}" Size="${size}" LfhSize="${30 + name.length}">${blocks}</File>`;
  });
  const method = 'HashMethod="http://www.w3.org/2001/04/xmlenc#sha256"';
  return `<BlockMap xmlns="http://schemas.microsoft.com/appx/2010/blockmap" ${method}>${listed.join('')}</BlockMap>`;
}

/** The last entry of a signed package: where it starts, and the digest in its signature of all that is before it. */
async function signatureAtEnd(path: string): Promise<{ readonly start: number; readonly records: string }> {
  const length = 65_536;
  const end = Buffer.alloc(length);
  await using handle = await open(path);
  const before = (await handle.stat()).size - length;
  await handle.read(end, 0, length, before);
  const start = end.lastIndexOf('PK\x03\x04', 'latin1');
  expect(end.toString('latin1', start + 30, start + 47)).toBe('AppxSignature.p7x');
  const data = end.subarray(start + 47 + end.readUInt16LE(start + 28));
  const signature = inflateRawSync(data);
  const digest = signature.indexOf('AXPC') + 4;
  return { start: before + start, records: signature.toString('hex', digest, digest + 32) };
}

it.skipIf(!isInSample(0))(
  'signs and verifies an MSIX of more than 4 GiB in little memory',
  { timeout: 600_000 },
  async () => {
    const path = join(folder.path, 'large.msix');
    const files: Entries = [
      ['large.bin', 4100 * MIB + 1],
      ['behind.txt', 'begins beyond 4 GiB'],
      ['AppxManifest.xml', packageManifest(SERVER_PUBLISHER)],
    ];
    const parts: Entries = [
      ['AppxBlockMap.xml', blockMap(files)],
      ['[Content_Types].xml', contentTypes()],
    ];
    await writeArchive(path, [...files, ...parts], 'ZIP64 with descriptors');
    const root = server.roots;
    const signed = await runMeasured(['sign', '--no-timestamp', path], { env: server.env });
    expect([signed.code, signed.stderr]).toEqual([0, '']);
    expect(signed.usage.peakBytes).toBeLessThan(MOST_MEMORY);
    const verified = await runMeasured(['verify', '--roots', root, path]);
    expect([verified.code, verified.stdout]).toEqual([0, expect.stringContaining('trusted')]);
    expect(verified.usage.peakBytes).toBeLessThan(MOST_MEMORY);
    // osslsigncode reads no such file.
    const { start, records } = await signatureAtEnd(path);
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(path, { end: start - 1 })) hash.update(chunk);
    expect(hash.digest('hex')).toBe(records);
    await rm(path);
  },
);

/** The program would write all of the gap: it is signed here, and only what is around the gap is written. */
it('signs a JAR whose entries begin beyond 4 GiB, and jarsigner accepts it', async () => {
  const [path, result] = [join(folder.path, 'large.jar'), join(folder.path, 'signed.jar')];
  const entries: Entries = [
    ['META-INF/MANIFEST.MF', 'Manifest-Version: 1.0\r\n\r\n'],
    ['small.txt', 'begins beyond 4 GiB', 4100 * MIB + 1],
  ];
  await writeArchive(path, entries, 'ZIP64');
  const signer = await makeRootedSigner();
  await using original = await open(path);
  const { size } = await original.stat();
  const source = fileSource(original, size);
  const prepared = await signingIn(await jar.open(source, plainReader(), path)).prepare(
    signingContext({ chain: signer.chain }),
    'replace',
  );
  const embedding = prepared.embed(sealedBy(signer, prepared));
  const signed = patchedSource(source, embedding.patch);
  await using file = await open(result, 'w+');
  for (const start of [0, signed.size - BLOCK]) await file.write(await signed.read(start, BLOCK), 0, BLOCK, start);
  await signingIn(await jar.open(fileSource(file, signed.size), plainReader(), result)).verify(embedding);
  const store = makeTruststore(signer.root, folder.path);
  expect(await jarsignerVerify(mainJava(), store, result)).toMatchObject({ accepted: true });
});

describe('a NuGet package is rejected before anything is signed', () => {
  it.each([
    ['beyond 4 GiB, with ZIP64 records', 4100 * MIB, 'ZIP64 with descriptors', /ends with them/],
    ['that would be longer than 4 GiB', 4096 * MIB - 4096, 'short', /would be longer than 4 GiB/],
  ] as const)('%s', async (_what, gap, layout, message) => {
    const path = join(folder.path, 'large.nupkg');
    const nuspec = '<package><metadata><id>Large</id></metadata></package>';
    const entries: Entries = [
      ['Large.nuspec', nuspec],
      ['last.txt', 'at the end', gap],
    ];
    await writeArchive(path, entries, layout);
    await using file = await open(path);
    const { chain } = await makeRootedSigner();
    const opening = nuget.open(fileSource(file, (await file.stat()).size), plainReader());
    const preparing = opening.then((opened) => signingIn(opened).prepare(signingContext({ chain }), 'replace'));
    await expect(preparing).rejects.toMatchObject({ code: 'nuget-zip64', message: expect.stringMatching(message) });
  });
});
