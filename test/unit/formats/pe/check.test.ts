/** Holds the check of a written file: each way the result can be wrong is seen. */

import { describe, expect, it } from 'vitest';
import { memorySource } from '../../../../src/bytes/byte-source.ts';
import { type MeasureContent, measureContent } from '../../../../src/crypto/measure-content.ts';
import { cmsEnvelope, type Envelope, withNested } from '../../../../src/format/signature.ts';
import { pe } from '../../../../src/formats/pe/index.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import { chainFromPem } from '../../../support/signed-files/throwaway-signer.ts';
import { signingIn } from '../support/change.ts';
import { readFixture } from '../support/fixtures.ts';
import { openBytes, plainReader } from '../support/sign-bytes.ts';
import { headerOffsets, slowChecksum } from './slow-pe.ts';

const signed = readFixture('golden/sha256-rsa2048.exe');
const appended = readFixture('golden/appended.exe');
const { checksum, entry } = headerOffsets(signed);
const tableOffset = signed.readUInt32LE(entry);

async function onlySignature(bytes: Buffer) {
  const [signature] = await (await openBytes(pe, bytes)).signatures();
  if (signature === undefined) throw new Error('the golden file has no signature');
  return signature;
}

const alone = (envelope: Envelope) => ({ added: [envelope], envelopes: [envelope] }) as const;

/** The program with this CMS alone. */
function withCms(cms: Uint8Array): Buffer {
  const data = Buffer.concat([cms, Buffer.alloc((8 - (cms.length % 8)) % 8)]);
  return changed(signed, (copy) => {
    const header = Buffer.from(copy.subarray(tableOffset, tableOffset + 8));
    header.writeUInt32LE(data.length + 8);
    const result = Buffer.concat([copy.subarray(0, tableOffset), header, data]);
    result.writeUInt32LE(result.length - tableOffset, entry + 4);
    return result;
  });
}

/** A copy, changed, and by default with the checksum that belongs to it. */
function changed(bytes: Buffer, change: (copy: Buffer) => Buffer | undefined, mendChecksum = true): Buffer {
  const copy = Buffer.from(bytes);
  const result = change(copy) ?? copy;
  if (mendChecksum) result.writeUInt32LE(slowChecksum(result), checksum);
  return result;
}

/** The table with `extra` bytes more at its end, in dwLength too when asked. */
function longerTable(extra: Buffer, inEntry: boolean): Buffer {
  return changed(signed, (copy) => {
    const result = Buffer.concat([copy, extra]);
    result.writeUInt32LE(result.length - tableOffset, entry + 4);
    if (inEntry) result.writeUInt32LE(result.length - tableOffset, tableOffset);
    return result;
  });
}

describe('the check of a signed PE file', () => {
  it.each([
    ['a wrong checksum', changed(signed, (copy) => void copy.writeUInt32LE(0, checksum), false)],
    ['a changed byte of the signature', changed(signed, (copy) => void copy.writeUInt8(1, tableOffset + 600))],
    ['revision 1.0', changed(signed, (copy) => void copy.writeUInt16LE(0x0100, tableOffset + 4))],
    ['another type', changed(signed, (copy) => void copy.writeUInt16LE(1, tableOffset + 6))],
    ['a second certificate', longerTable(signed.subarray(tableOffset), false)],
    ['zeros after the certificate', longerTable(Buffer.alloc(8), false)],
    ['zeros inside the certificate, more than padding', longerTable(Buffer.alloc(8), true)],
    ['bytes hidden inside the certificate', longerTable(Buffer.alloc(8, 1), true)],
    [
      'a missing last byte in the directory entry',
      changed(signed, (copy) => void copy.writeUInt32LE(signed.length - tableOffset - 1, entry + 4)),
    ],
  ])('sees %s', async (_, bytes) => {
    const { envelope } = await onlySignature(signed);
    const file = await openBytes(pe, bytes);
    await expect(signingIn(file).verify(alone(envelope))).rejects.toMatchObject({ code: 'result-damaged' });
  });

  it('detects a change in the signature that contains another one, signed or not, wherever it is', async () => {
    const twice = readFixture('golden/appended-twice.exe');
    const outer = await onlySignature(twice);
    const { envelope } = outer;
    const start = twice.indexOf(envelope.bytes);
    for (const { envelope: sealed } of withNested([outer]).slice(1)) {
      await signingIn(await openBytes(pe, twice)).verify({ added: [sealed], envelopes: [envelope] });
      for (let index = start; index < start + envelope.bytes.length; index += 131) {
        const bytes = changed(twice, (copy) => void copy.writeUInt8((copy[index] ?? 0) ^ 1, index));
        const file = await openBytes(pe, bytes);
        await expect(signingIn(file).verify({ added: [sealed], envelopes: [envelope] })).rejects.toMatchObject({
          code: 'result-damaged',
        });
      }
    }
  });

  it('detects that the first signature is missing, or those nested before', async () => {
    const twice = await onlySignature(readFixture('golden/appended-twice.exe'));
    const once = await onlySignature(appended);
    const nested = once?.contained[0]?.signature?.envelope ?? cmsEnvelope(new Uint8Array());
    for (const cms of [once.envelope, nested]) {
      const file = await openBytes(pe, withCms(cms.bytes));
      await signingIn(file).verify({ added: [nested], envelopes: [cms] });
      await expect(signingIn(file).verify({ added: [nested], envelopes: [twice.envelope] })).rejects.toMatchObject({
        code: 'result-damaged',
      });
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
    const [outer] = await file.signatures();
    if (outer === undefined) throw new Error('unsigned');
    const chain = await chainFromPem(readFixture('golden/leaf-3072.pem').toString());
    await signingIn(file).prepare(signingContext({ chain }), mode);
    expect(calls).toEqual(['SHA256,SUM16']);
    await signingIn(file).verify({
      added: [outer?.contained[0]?.signature?.envelope ?? outer.envelope],
      envelopes: [outer.envelope],
    });
    expect(calls.slice(1)).toEqual([checked]);
  });
});
