/** Holds the check of a written file: each way the result can be wrong is seen. */

import { describe, expect, it } from 'vitest';
import { memorySource } from '../../../../src/bytes/byte-source.ts';
import { type MeasureContent, measureContent } from '../../../../src/crypto/measure-content.ts';
import { type Envelope, withNested } from '../../../../src/format/signature.ts';
import { pe } from '../../../../src/formats/pe/index.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import { chainFromPem } from '../../../support/signed-files/throwaway-signer.ts';
import { signingIn } from '../support/change.ts';
import { readFixture } from '../support/fixtures.ts';
import { openBytes, plainReader } from '../support/sign-bytes.ts';
import { headerOffsets, slowChecksum } from './slow-pe.ts';
import { tableOf, withCertificates, withHeader } from './tables.ts';

const signed = readFixture('golden/sha256-rsa2048.exe');
const { checksum, entry } = headerOffsets(signed);

const onlySignature = async (bytes: Buffer) =>
  (await (await openBytes(pe, bytes)).signatures())[0] ?? expect.unreachable();

/** Throws unless the file holds this envelope alone, in which `added` is new. */
async function check(bytes: Buffer, envelope: Envelope, added = envelope): Promise<void> {
  await signingIn(await openBytes(pe, bytes)).verify({ added: [added], envelopes: [envelope] });
}

/** A copy, changed, and by default with the checksum that belongs to it. */
function changed(bytes: Buffer, change: (copy: Buffer) => unknown, mendChecksum = true): Buffer {
  const copy = Buffer.from(bytes);
  change(copy);
  if (mendChecksum) copy.writeUInt32LE(slowChecksum(copy), checksum);
  return copy;
}

const { bytes: table, data, offset: tableOffset } = tableOf(signed);
const inEntry = (extra: Buffer) => withCertificates(signed, withHeader(Buffer.concat([data, extra])));

describe('the check of a signed PE file', () => {
  it.each([
    ['a wrong checksum', changed(signed, (copy) => copy.writeUInt32LE(0, checksum), false)],
    ['a changed byte of the signature', changed(signed, (copy) => copy.writeUInt8(1, tableOffset + 600))],
    ['revision 1.0', changed(signed, (copy) => copy.writeUInt16LE(0x0100, tableOffset + 4))],
    ['another type', changed(signed, (copy) => copy.writeUInt16LE(1, tableOffset + 6))],
    ['a second certificate', withCertificates(signed, table, table)],
    ['zeros after the certificate', withCertificates(signed, table, Buffer.alloc(8))],
    ['zeros inside the certificate, more than padding', inEntry(Buffer.alloc(8))],
    ['bytes hidden inside the certificate', inEntry(Buffer.alloc(8, 1))],
    ['a missing last byte in the entry', changed(signed, (copy) => copy.writeUInt32LE(table.length - 1, entry + 4))],
  ])('sees %s', async (_, bytes) => {
    const { envelope } = await onlySignature(signed);
    await expect(check(bytes, envelope)).rejects.toMatchObject({ code: 'result-damaged' });
  });

  it('detects a change in the signature that contains another one, signed or not, wherever it is', async () => {
    const twice = readFixture('golden/appended-twice.exe');
    const outer = await onlySignature(twice);
    const start = twice.indexOf(outer.envelope.bytes);
    for (const { envelope: added } of withNested([outer]).slice(1)) {
      await check(twice, outer.envelope, added);
      for (let index = start; index < start + outer.envelope.bytes.length; index += 131) {
        const bytes = changed(twice, (copy) => copy.writeUInt8((copy[index] ?? 0) ^ 1, index));
        await expect(check(bytes, outer.envelope, added)).rejects.toMatchObject({ code: 'result-damaged' });
      }
    }
  });

  it.each([
    ['golden/sha256-rsa2048.exe', 'replace', 'SHA256,SUM16'],
    ['golden/appended.exe', 'append', 'SHA256,SHA1,SUM16'],
  ] as const)('and the preparing of %s read the content once each', async (name, mode, checked) => {
    const calls: string[] = [];
    const measure: MeasureContent = (source, content, measures) => {
      calls.push(measures.join());
      return measureContent(source, content, measures);
    };
    const file = await pe.open(memorySource(readFixture(name)), { ...plainReader(), measure });
    const [outer = expect.unreachable()] = await file.signatures();
    const chain = await chainFromPem(readFixture('golden/leaf-3072.pem').toString());
    await signingIn(file).prepare(signingContext({ chain }), mode);
    expect(calls).toEqual(['SHA256,SUM16']);
    await signingIn(file).verify({
      added: [outer.contained[0]?.signature?.envelope ?? outer.envelope],
      envelopes: [outer.envelope],
    });
    expect(calls.slice(1)).toEqual([checked]);
  });
});
