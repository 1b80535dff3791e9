/** JARs made to deceive or to exhaust: what one program reads and another does not, and what takes time or memory. */

import { describe, expect, it } from 'vitest';
import { jar } from '../../../../../src/formats/jar/index.ts';
import { signingContext } from '../../../../support/signed-files/signing-context.ts';
import { makeThrowawaySigner } from '../../../../support/signed-files/throwaway-signer.ts';
import { signingIn } from '../../support/change.ts';
import { openBytes, signBytes } from '../../support/sign-bytes.ts';
import { jarOf, zip } from '../simple-zip.ts';

const MAIN = 'Manifest-Version: 1.0\r\n\r\n';
const signer = await makeThrowawaySigner();
const sign = (bytes: Buffer) => signBytes(jar, bytes, signer);

/** An end record that leads to the directory of an archive put before it, whatever its other fields say. */
function fakeEnd(directorySize: number, change: (record: Buffer) => void): Buffer {
  const record = Buffer.alloc(22);
  record.write('PK\x05\x06', 0, 'latin1');
  record.writeUInt16LE(1, 8);
  record.writeUInt16LE(1, 10);
  record.writeUInt32LE(directorySize, 12);
  change(record);
  return record;
}

describe('what another program would read', () => {
  it.each<[string, (record: Buffer) => void]>([
    ['no entries', (record) => record.fill(0, 8, 12)],
    ['another disk', (record) => record.writeUInt16LE(1, 4)],
    ['other counts', (record) => record.writeUInt16LE(2, 8)],
    ['a comment that is longer than the file', (record) => record.writeUInt16LE(500, 20)],
    ['an offset that leads nowhere', (record) => record.writeUInt32LE(0x7fffffff, 16)],
  ])('an archive in the comment, whose end record says %s, is rejected', async (_, change) => {
    const inner = zip([{ name: 'Fake.class', contents: 'fake' }]);
    const directory = inner.subarray(inner.indexOf('PK\x01\x02', 0, 'latin1'), inner.length - 22);
    const outer = jarOf(MAIN, { name: 'a.txt', contents: 'a' });
    const comment = Buffer.concat([directory, fakeEnd(directory.length, change), Buffer.from('..')]);
    outer.writeUInt16LE(comment.length, outer.length - 2);
    await expect(openBytes(jar, Buffer.concat([outer, comment]))).rejects.toMatchObject({ code: 'zip-ambiguous' });
  });

  it('what is not digested is held to what it says anyway', async () => {
    const bytes = jarOf(MAIN, { name: 'META-INF/SIG-X', contents: 'something', size: 3 });
    await expect(sign(bytes)).rejects.toMatchObject({ code: 'zip-entry-damaged' });
  });
});

it('many signature files of the largest size do not stay in memory together', async () => {
  const largest = Buffer.alloc(15_000_000);
  const pairs = Array.from({ length: 30 }, (_, index) => [
    { name: `META-INF/S${index}.SF`, contents: largest },
    { name: `META-INF/S${index}.RSA`, contents: 'x' },
  ]);
  const bytes = jarOf(MAIN, ...pairs.flat());
  const before = process.memoryUsage().arrayBuffers;
  const signatures = await (await openBytes(jar, bytes)).signatures();
  expect(signatures).toHaveLength(30);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(200_000_000);
});

it('an archive that would need ZIP64, with bytes after it, is rejected before a signature is requested', async () => {
  const entries = Array.from({ length: 65_532 }, (_, index) => ({ name: `${index}`, contents: '', isStored: true }));
  const bytes = Buffer.concat([jarOf(MAIN, ...entries), Buffer.alloc(1)]);
  const file = await openBytes(jar, bytes);
  const prepared = await signingIn(file).prepare(signingContext({ chain: signer.chain }), 'replace');
  expect(() => prepared.embed([prepared.units[0].seal(new Uint8Array(256))])).toThrowError(/ZIP64/);
});
