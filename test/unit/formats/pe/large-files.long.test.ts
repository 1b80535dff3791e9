/** A PE file beyond 2 GiB: offsets beyond 31 bits, and no memory that grows with the file. `layout.test.ts` tests the end of what PE allows. */

import { rmSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
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

const folder = folderForAll();

const signer = await makeThrowawaySigner();
writeFileSync(path.join(folder, 'root.pem'), signer.root);

const openLarge = async (handle: FileHandle) => pe.open(fileSource(handle, (await handle.stat()).size), plainReader());

/** Not a multiple of 8. */
const SIZE = 2 ** 31 + 3;

it('signs and checks a program beyond 2 GiB, which osslsigncode accepts', async () => {
  const file = path.join(folder, 'large.exe');
  const before = process.memoryUsage().rss;
  const handle = await open(file, 'w+');
  try {
    // A hole for an overlay, and a few bytes at the very end.
    await handle.write(readFixture('pe/hello.exe'), 0);
    await handle.truncate(SIZE);
    await handle.write(Buffer.from('the end'), 0, 7, SIZE - 7);
    const context = signingContext({ chain: signer.chain });
    const prepared = await signingIn(await openLarge(handle)).prepare(context, 'replace');
    const embedding = prepared.embed(sealedBy(signer, prepared));
    // The tail is the only edit that changes the length, so the edits can be made in place.
    for (const { position, piece } of piecesToWrite(embedding.patch, [], SIZE)) {
      if (!isBytes(piece)) throw new Error('bytes of the program move');
      await handle.write(piece, 0, piece.length, position);
    }
    await signingIn(await openLarge(handle)).verify(embedding);
  } finally {
    await handle.close();
  }
  expect(process.memoryUsage().rss - before).toBeLessThan(64 * 2 ** 20);
  expect(await osslsigncodeVerify(path.join(folder, 'root.pem'), file)).toMatchObject({ accepted: true });
  rmSync(file);
});
