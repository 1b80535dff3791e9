/** Installer files whose FAT needs DIFAT sectors, and one beyond 2 GiB, where the range lock is. */

import { writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { memorySource } from '../../../../src/bytes/byte-source.ts';
import { fileSource } from '../../../../src/bytes/file-source.ts';
import { lazyPieces, type Piece, readPieces } from '../../../../src/bytes/pieces.ts';
import type { CompoundStream, Version } from '../../../../src/compound-file/format.ts';
import { layOut, newStream } from '../../../../src/compound-file/write.ts';
import { msi } from '../../../../src/formats/msi/index.ts';
import { folderForAll } from '../../../support/set-up.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { osslsigncodeVerify, run } from '../../../system/interop/verifiers.ts';
import { sealedBy, signingIn } from '../support/change.ts';
import { plainReader } from '../support/sign-bytes.ts';
import { installerHeader, packageRoot } from './samples.ts';

const MIB = 2 ** 20;
const LOCK = 0x7fff_ff00;
const folder = folderForAll();

const signer = await makeThrowawaySigner();
writeFileSync(path.join(folder, 'root.pem'), signer.root);

/** Zeros, so that the file is sparse, but for the position in the stream at each MiB, and in all words around the range lock. */
function chunkAt(index: number): Buffer {
  const bytes = Buffer.alloc(MIB);
  const isDense = Math.abs(index - LOCK / MIB) < 2;
  for (let at = 0; at < (isDense ? MIB : 8); at += 8) bytes.writeDoubleLE(index * MIB + at + 1, at);
  return bytes;
}

function largeStream(mebibytes: number): CompoundStream {
  const content = lazyPieces(function* (): Generator<Piece> {
    for (let index = 0; index < mebibytes; index += 1) yield chunkAt(index);
  });
  return { ...newStream('Large', Buffer.alloc(0)), size: mebibytes * MIB, content };
}

/** Leaves holes for zeros. */
async function write(file: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const handle = await open(file, 'w');
  const zeros = Buffer.alloc(4096);
  let position = 0;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += zeros.length) {
      const part = chunk.subarray(at, at + zeros.length);
      if (Buffer.compare(part, zeros.subarray(0, part.length)) !== 0)
        await handle.write(part, 0, part.length, position);
      position += part.length;
    }
  }
  await handle.truncate(position);
  await handle.close();
}

async function signLarge(version: Version, mebibytes: number) {
  const [unsigned, file] = ['unsigned.msi', 'signed.msi'].map((name) => path.join(folder, name)) as [string, string];
  const root = packageRoot([largeStream(mebibytes), newStream('Small', Buffer.from('small'))]);
  await write(
    unsigned,
    readPieces(memorySource(Buffer.alloc(0)), layOut({ version, header: installerHeader(version) }, root)),
  );
  const before = process.memoryUsage().rss;
  const source = await open(unsigned);
  const opened = await msi.open(fileSource(source, (await source.stat()).size), plainReader());
  const prepared = await signingIn(opened).prepare(signingContext({ chain: signer.chain }), 'replace');
  const embedding = prepared.embed(sealedBy(signer, prepared));
  const [edit] = embedding.patch;
  await write(file, readPieces(fileSource(source, (await source.stat()).size), edit?.insert ?? []));
  await source.close();

  const result = await open(file);
  const reopened = await msi.open(fileSource(result, (await result.stat()).size), plainReader());
  await signingIn(reopened).verify(embedding);
  await result.close();
  return { file, memory: process.memoryUsage().rss - before };
}

it('a file of version 3 with DIFAT sectors is accepted by osslsigncode and the checker', async () => {
  const { file } = await signLarge(3, 20);
  expect(await osslsigncodeVerify(path.join(folder, 'root.pem'), file)).toMatchObject({ accepted: true });
  expect(await run('gsf', ['list', file])).toMatchObject({ accepted: true });
  const verifiers = process.env.CODESIGN_TEST_VERIFIERS;
  if (verifiers === undefined) return;
  const checked = await run('python3', [path.join(verifiers, 'formats', 'msicheck.py'), file]);
  expect(checked).toMatchObject({ accepted: true });
});

it('a file of version 4 beyond 2 GiB is signed around the range lock, in little memory', {
  timeout: 300_000,
}, async () => {
  const { file, memory } = await signLarge(4, 2100);
  expect(memory).toBeLessThan(100 * MIB);
  const script = path.join(import.meta.dirname, 'large-stream.py');
  const { output, accepted } = await run('python3', [script, file]);
  expect({ output, accepted }).toEqual({
    output: `${2100 * MIB} bytes in the stream, all at their places; the range lock is empty\n`,
    accepted: true,
  });
});
