import { expect, it } from 'vitest';
import { jar } from '../../../../src/formats/jar/index.ts';
import { folderForAll } from '../../../support/set-up.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { read } from '../../zip/support/reading.ts';
import { buildZip, deflated, stored } from '../../zip/support/zip-builder.ts';
import { openBytes, signBytes } from '../support/sign-bytes.ts';
import { readInJava } from './interop/read-by-java.ts';

const entries = [deflated('META-INF/MANIFEST.MF', { contents: 'Manifest-Version: 1.0\r\n\r\n' }), stored('a.txt')];
const folder = folderForAll();
const about = { entries, preamble: '#!/bin/sh\n', zip64: true };

/** With the locator's offset from the file's beginning, whatever the others count from. */
function locatorCounting(bytes: Buffer): Buffer {
  const place = bytes.lastIndexOf('PK\x06\x06', undefined, 'latin1');
  const locator = bytes.lastIndexOf('PK\x06\x07', undefined, 'latin1');
  const adjusted = Buffer.from(bytes);
  adjusted.writeUInt32LE(place, locator + 8);
  return adjusted;
}

const ARCHIVES: Readonly<Record<string, readonly [bytes: Buffer, isOpened: boolean]>> = {
  'all offsets count the preamble': [buildZip(about), true],
  'no offset counts it': [buildZip({ ...about, offsets: 'archive' }), false],
  "the locator's alone counts it": [locatorCounting(buildZip({ ...about, offsets: 'archive' })), true],
};

it('rejects those that Java does not open, and signs the others so that it continues doing so', async () => {
  const signer = await makeThrowawaySigner();
  const opens = async (bytes: Buffer) => {
    const [reading] = await readInJava(folder, [bytes]);
    return reading?.failures.length === 0 && reading.entries > 0 ? reading.unsigned : 'no';
  };
  for (const [what, [bytes, isOpened]] of Object.entries(ARCHIVES)) {
    expect(await opens(bytes), what).toEqual(isOpened ? ['a.txt'] : 'no');
    if (isOpened) expect(await opens((await signBytes(jar, bytes, signer)).result), what).toEqual([]);
    else await expect(openBytes(jar, bytes), what).rejects.toMatchObject({ code: 'zip-unsupported' });
    expect((await read(bytes)).entries, what).toHaveLength(2);
  }
});
