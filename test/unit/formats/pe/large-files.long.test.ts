/** A PE file beyond 2 GiB: offsets beyond 31 bits, and no memory that grows with the file. `layout.test.ts` tests the end of what PE allows. */

import { rmSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { fileSource } from '../../../../src/bytes/file-source.ts';
import { isBytes } from '../../../../src/bytes/pieces.ts';
import { pe } from '../../../../src/formats/pe/index.ts';
import { piecesToWrite } from '../../../../src/signing/files/patch-geometry.ts';
import { folderForAll } from '../../../support/set-up.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { osslsigncodeVerify } from '../../../system/interop/verifiers.ts';
import { sealedBy, signingIn } from '../support/change.ts';
import { readFixture } from '../support/fixtures.ts';
import { plainReader } from '../support/sign-bytes.ts';

const GIB = 2 ** 30;
const MIB = 2 ** 20;
const folder = folderForAll();

const signer = await makeThrowawaySigner();
writeFileSync(path.join(folder, 'root.pem'), signer.root);

/** A program with a hole for an overlay, and a few bytes at its very end. */
async function makeLarge(file: string, size: number): Promise<void> {
  const handle = await open(file, 'w');
  await handle.write(readFixture('pe/hello.exe'), 0);
  await handle.truncate(size);
  await handle.write(Buffer.from('the end'), 0, 7, size - 7);
  await handle.close();
}

async function openLarge(handle: FileHandle) {
  return pe.open(fileSource(handle, (await handle.stat()).size), plainReader());
}

/** Not a multiple of 8. */
const SIZE = 2 * GIB + 3;

describe('a program beyond 2 GiB', () => {
  it('is signed, checked, and accepted by osslsigncode', async () => {
    const file = path.join(folder, 'large.exe');
    await makeLarge(file, SIZE);
    const before = process.memoryUsage().rss;
    const handle = await open(file, 'r+');
    try {
      const prepared = await signingIn(await openLarge(handle)).prepare(
        signingContext({ chain: signer.chain }),
        'replace',
      );
      const embedding = prepared.embed(sealedBy(signer, prepared));
      // The tail is the only edit that changes the length, so the edits can be made in place.
      for (const { position, piece } of piecesToWrite(embedding.patch, [], SIZE)) {
        if (!isBytes(piece)) throw new Error('bytes of the program move');
        await handle.write(piece, 0, piece.length, position);
      }
      const result = await openLarge(handle);
      await signingIn(result).verify(embedding);
    } finally {
      await handle.close();
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * MIB);

    const verdict = await osslsigncodeVerify(path.join(folder, 'root.pem'), file);
    expect(verdict).toMatchObject({ accepted: true });
    rmSync(file);
  });
});
