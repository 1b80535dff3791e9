/** Holds the edits that put a CMS into a PE, checked by slow code written for that. */

import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { memorySource } from '../../../../src/bytes/byte-source.ts';
import { measureContent } from '../../../../src/crypto/measure-content.ts';
import { contentToSign } from '../../../../src/formats/pe/content.ts';
import { embedCms } from '../../../../src/formats/pe/embed.ts';
import { readLayout } from '../../../../src/formats/pe/layout.ts';
import { applyPatch } from '../support/apply-patch.ts';
import { fixturesIn, readFixture } from '../support/fixtures.ts';
import { headerOffsets, slowChecksum, slowContent } from './slow-pe.ts';

it.each(fixturesIn('pe'))('signs $name as the specification requires, and keeps all other bytes', async ({ bytes }) => {
  const source = memorySource(bytes);
  const layout = await readLayout(source);
  const { digests, sum16 = -1 } = await measureContent(source, contentToSign(layout), ['SHA256', 'SUM16']);
  const padding = Buffer.alloc(-layout.programEnd & 7);
  const digested = Buffer.concat([slowContent(bytes, layout.programEnd), padding]);
  expect(digests.get('SHA256')).toEqual(createHash('sha256').update(digested).digest());

  for (const length of [1, 8]) {
    const cms = Buffer.alloc(length, 0xa5);
    const result = applyPatch(bytes, embedCms(layout, sum16, cms));
    const { checksum, entry } = headerOffsets(result);
    const offset = layout.programEnd + padding.length;
    expect([result.readUInt32LE(entry), result.readUInt32LE(entry + 4)]).toEqual([offset, 16]);
    const header = Buffer.from('1000000000020200', 'hex');
    expect(result.subarray(offset)).toEqual(Buffer.concat([header, cms, Buffer.alloc(8 - length)]));
    expect(result.readUInt32LE(checksum)).toBe(slowChecksum(result));
    expect(slowContent(result, offset)).toEqual(digested);
  }
});

it('rejects a signature that takes the file past 4 GiB', async () => {
  const layout = await readLayout(memorySource(readFixture('pe/hello.exe')));
  const large = { ...layout, programEnd: 2 ** 32 - 2048, fileSize: 2 ** 32 - 2048 };
  expect(() => embedCms(large, 0, Buffer.alloc(4096))).toThrow(expect.objectContaining({ code: 'file-too-large' }));
});
