/** Holds the edits that put a CMS into a PE, checked by slow code written for that. */

import { describe, expect, it } from 'vitest';
import { memorySource } from '../../../../src/bytes/byte-source.ts';
import { measureContent } from '../../../../src/crypto/measure-content.ts';
import { contentToSign } from '../../../../src/formats/pe/content.ts';
import { embedCms } from '../../../../src/formats/pe/embed.ts';
import { readLayout } from '../../../../src/formats/pe/layout.ts';
import { applyPatch } from '../support/apply-patch.ts';
import { fixturesIn } from '../support/fixtures.ts';
import { headerOffsets, slowChecksum, slowDigest } from './slow-pe.ts';

const programs = fixturesIn('pe');

async function measured(bytes: Buffer) {
  const source = memorySource(bytes);
  const layout = await readLayout(source);
  const measurement = await measureContent(source, contentToSign(layout), ['SHA1', 'SHA256', 'SUM16']);
  return { layout, measurement };
}

describe.each(programs)('$name: $what', ({ bytes }) => {
  it('has the digest that the specification requires', async () => {
    const { layout, measurement } = await measured(bytes);
    expect(measurement.digests.get('SHA256')).toEqual(slowDigest(bytes, layout.programEnd, 'sha256'));
    expect(measurement.digests.get('SHA1')).toEqual(slowDigest(bytes, layout.programEnd, 'sha1'));
  });

  it.each([1, 8])(
    'contains a CMS of %i bytes in one aligned entry at the end, with a right checksum',
    async (length) => {
      const { layout, measurement } = await measured(bytes);
      const cms = Buffer.alloc(length, 0xa5);
      const result = applyPatch(bytes, embedCms(layout, measurement.sum16 ?? -1, cms));

      const { checksum, entry } = headerOffsets(result);
      const offset = result.readUInt32LE(entry);
      const size = result.readUInt32LE(entry + 4);
      expect(offset % 8).toBe(0);
      expect(offset + size).toBe(result.length);
      expect(result.length % 8).toBe(0);
      expect(result.readUInt32LE(offset)).toBe(size);
      expect(result.readUInt32LE(offset + 4)).toBe(0x0002_0200);
      expect(result.subarray(offset + 8, offset + 8 + length)).toEqual(cms);
      expect(result.subarray(offset + 8 + length).every((byte) => byte === 0)).toBe(true);
      expect(result.readUInt32LE(checksum)).toBe(slowChecksum(result));
    },
  );

  it('keeps every byte except the checksum, the directory entry and the old signatures', async () => {
    const { layout, measurement } = await measured(bytes);
    const result = applyPatch(bytes, embedCms(layout, measurement.sum16 ?? -1, Buffer.alloc(100)));
    const { checksum, entry } = headerOffsets(bytes);
    const expected = Buffer.from(bytes.subarray(0, layout.programEnd));
    result.copy(expected, checksum, checksum, checksum + 4);
    result.copy(expected, entry, entry, entry + 8);
    expect(result.subarray(0, layout.programEnd)).toEqual(expected);
    const tableOffset = result.readUInt32LE(entry);
    expect(tableOffset - layout.programEnd).toBeLessThan(8);
    expect(result.subarray(layout.programEnd, tableOffset).every((byte) => byte === 0)).toBe(true);
  });
});

it('rejects a signature that takes the file past 4 GiB', async () => {
  const { layout } = await measured(programs[0]?.bytes ?? Buffer.alloc(0));
  const large = { ...layout, programEnd: 2 ** 32 - 2048, fileSize: 2 ** 32 - 2048 };
  expect(() => embedCms(large, 0, Buffer.alloc(4096))).toThrow(expect.objectContaining({ code: 'file-too-large' }));
});
