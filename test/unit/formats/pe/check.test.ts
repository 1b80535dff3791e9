/** Holds the check of a written file: each way the result can be wrong is seen. */

import { expect, it } from 'vitest';
import { memorySource } from '../../../../src/bytes/byte-source.ts';
import { type MeasureContent, measureContent } from '../../../../src/crypto/measure-content.ts';
import { pe } from '../../../../src/formats/pe/index.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import { chainFromPem } from '../../../support/signed-files/throwaway-signer.ts';
import { signingIn } from '../support/change.ts';
import { readFixture } from '../support/fixtures.ts';
import { openBytes, plainReader } from '../support/sign-bytes.ts';
import { headerOffsets } from './slow-pe.ts';
import { changed, tableOf, withCertificates, withHeader } from './tables.ts';

const signed = readFixture('golden/sha256-rsa2048.exe');
const { checksum, entry } = headerOffsets(signed);
const { bytes: table, data, offset: tableOffset } = tableOf(signed);
const inEntry = (extra: Buffer) => withCertificates(signed, withHeader(Buffer.concat([data, extra])));

it.each([
  ['a wrong checksum', changed(signed, (copy) => copy.writeUInt32LE(0, checksum), false)],
  ['a changed byte of the signature', changed(signed, (copy) => copy.writeUInt8(1, tableOffset + 600))],
  ['revision 1.0', changed(signed, (copy) => copy.writeUInt16LE(0x0100, tableOffset + 4))],
  ['another type', changed(signed, (copy) => copy.writeUInt16LE(1, tableOffset + 6))],
  ['a second certificate', withCertificates(signed, table, table)],
  ['zeros after the certificate', withCertificates(signed, table, Buffer.alloc(8))],
  ['zeros inside the certificate, more than padding', inEntry(Buffer.alloc(8))],
  ['a missing last byte in the entry', changed(signed, (copy) => copy.writeUInt32LE(table.length - 1, entry + 4))],
])('the check of a signed PE file sees %s', async (_, bytes) => {
  const [signature = expect.unreachable()] = await (await openBytes(pe, signed)).signatures();
  const expected = { added: [signature.envelope], envelopes: [signature.envelope] } as const;
  await expect(signingIn(await openBytes(pe, bytes)).verify(expected)).rejects.toMatchObject({
    code: 'result-damaged',
  });
});

it('the check and the preparing of another signature read the content once each', async () => {
  const calls: string[] = [];
  const measure: MeasureContent = (source, content, measures) => {
    calls.push(measures.join());
    return measureContent(source, content, measures);
  };
  const file = await pe.open(memorySource(readFixture('golden/appended.exe')), { ...plainReader(), measure });
  const [outer = expect.unreachable()] = await file.signatures();
  const nested = outer.contained[0]?.signature ?? expect.unreachable();
  const chain = await chainFromPem(readFixture('golden/leaf-3072.pem').toString());
  await signingIn(file).prepare(signingContext({ chain }), 'append');
  await signingIn(file).verify({ added: [nested.envelope], envelopes: [outer.envelope] });
  expect(calls).toEqual(['SHA256,SUM16', 'SHA256,SHA1,SUM16']);
});
