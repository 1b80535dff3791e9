/** Archives around and beyond 4 GiB: an MSIX is signed by the command line in little memory, a JAR with ZIP64 records for jarsigner, NuGet packages are rejected. */

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { fileSource } from '../../../src/bytes/file-source.ts';
import { patchedSource } from '../../../src/bytes/patched-source.ts';
import { jar } from '../../../src/formats/jar/index.ts';
import { nuget } from '../../../src/formats/nuget/index.ts';
import { temporaryFolder } from '../../support/programs/cli.ts';
import { jarsignerVerify, mainJava, makeTruststore } from '../../support/programs/java.ts';
import { runMeasured } from '../../support/programs/measured-cli.ts';
import { PYTHON } from '../../support/programs/python.ts';
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
/** What an entry of more than 4 GiB has in its local record. */
const ZIP64_FIELD = 20;

const server = await forAll(useServer({ bits: 2048 }));
const folder = await forAll(temporaryFolder('codesign-large-packages-'));

/** Stored; a number stands for so many zeros, which take no space on the disk. `gap`: zeros in front of it that are of no entry. */
type Entries = readonly (readonly [name: string, contents: string | number, gap?: number])[];

/** By Python's zipfile. Where it can only write, as to a tape, entries have data descriptors, as makeappx writes them. */
const WRITE = `
import json, sys, zipfile

zipfile.ZIP64_LIMIT = (1 << 32) - 1

class Tape:
    def __init__(self, file): self.file = file
    def write(self, data):
        if any(data): self.file.write(data)
        else: self.file.seek(len(data), 1)
        return len(data)
    def flush(self): pass

(path, kind), entries = sys.argv[1:], json.load(sys.stdin)
with open(path, 'wb') as file, zipfile.ZipFile(Tape(file) if kind == 'descriptors' else file, 'w') as archive:
    for name, contents, *gap in entries:
        archive.start_dir += sum(gap)
        with archive.open(name, 'w', force_zip64=isinstance(contents, int)) as entry:
            if isinstance(contents, str): contents = entry.write(contents.encode()) * 0
            for start in range(0, contents, 1 << 20): entry.write(bytes(min(1 << 20, contents - start)))
`;

function writeArchive(path: string, entries: Entries, kind = 'plain'): void {
  execFileSync(PYTHON, ['-c', WRITE, path, kind], { input: JSON.stringify(entries) });
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
    const record = 30 + name.length + (typeof contents === 'number' ? ZIP64_FIELD : 0);
    return `<File Name="${name}" Size="${size}" LfhSize="${record}">${blocks}</File>`;
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

it.skipIf(!isInSample(0, 2))(
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
    writeArchive(path, [...files, ...parts], 'descriptors');
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
it.skipIf(!isInSample(1))('signs a JAR whose entries begin beyond 4 GiB, and jarsigner accepts it', async () => {
  const [path, result] = [join(folder.path, 'large.jar'), join(folder.path, 'signed.jar')];
  const entries: Entries = [
    ['META-INF/MANIFEST.MF', 'Manifest-Version: 1.0\r\n\r\n'],
    ['small.txt', 'begins beyond 4 GiB', 4100 * MIB + 1],
  ];
  writeArchive(path, entries);
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

it('rejects a NuGet package that would be longer than 4 GiB before anything is signed', async () => {
  const path = join(folder.path, 'large.nupkg');
  const entries: Entries = [
    ['Large.nuspec', '<package><metadata><id>Large</id></metadata></package>'],
    ['last.txt', 'at the end', 4096 * MIB - 4096],
  ];
  writeArchive(path, entries);
  await using file = await open(path);
  const { chain } = await makeRootedSigner();
  const opened = await nuget.open(fileSource(file, (await file.stat()).size), plainReader());
  const preparing = signingIn(opened).prepare(signingContext({ chain }), 'replace');
  const message = expect.stringContaining('would be longer than 4 GiB');
  await expect(preparing).rejects.toMatchObject({ code: 'nuget-zip64', message });
});
