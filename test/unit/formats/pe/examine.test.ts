/** What an examination finds in a PE file and in the entries of its signatures, and to which of these one can be added. */

import { describe, expect, it } from 'vitest';
import { pe } from '../../../../src/formats/pe/index.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { checkIn, warningsOf } from '../support/change.ts';
import { readFixture } from '../support/fixtures.ts';
import { codesIn, codesOf, isIntact } from '../support/is-intact.ts';
import { openBytes, signBytes } from '../support/sign-bytes.ts';
import { headerOffsets } from './slow-pe.ts';
import { changed, tableOf, withCertificates, withHeader } from './tables.ts';

const signed = readFixture('golden/sha256-rsa2048.exe');
const { checksum, entry } = headerOffsets(signed);
const table = tableOf(signed);
/** Without padding. */
const trimmed = table.data.subarray(0, 4 + table.data.readUInt16BE(2));
const signer = await makeThrowawaySigner();
const withTable = (...parts: readonly Buffer[]) => withCertificates(signed, ...parts);
const twoEntries = withTable(table.bytes, table.bytes);

const signaturesIn = async (bytes: Buffer) => (await openBytes(pe, bytes)).signatures();
const withShort = (value: number, offset: number) => changed(signed, (copy) => copy.writeUInt16LE(value, offset));
const withChecksum = (value: number, bytes = signed) =>
  changed(bytes, (copy) => copy.writeUInt32LE(value, checksum), false);
const withData = (...parts: readonly Uint8Array[]) => withTable(withHeader(Buffer.concat(parts)));
/** The table begins late. */
const unaligned = (bytes: number) =>
  changed(Buffer.concat([signed.subarray(0, table.offset), Buffer.alloc(bytes), table.bytes]), (copy) =>
    copy.writeUInt32LE(table.offset + bytes, entry),
  );
/** The directory's Size leaves out the padding of the entry, whose length does too. */
const shortDirectory = changed(withTable(withHeader(trimmed)), (copy) =>
  copy.writeUInt32LE(trimmed.length + 8, entry + 4),
);
const oneInPadding = withHeader(Buffer.concat([table.data, Buffer.from([0, 0, 0, 0, 0, 0, 0, 1])]), {
  length: table.length + 7,
});

describe('a PE file', () => {
  // Linkers leave out the checksum, as in hello.exe.
  it.each(['golden/appended-twice.exe', 'golden/padded-1-byte.exe', 'golden/pe32.exe', 'pe/hello.exe'])(
    '%s has nothing odd',
    async (name) => {
      expect(await (await openBytes(pe, readFixture(name))).examine()).toEqual([]);
    },
  );

  it.each<[string, string, Buffer]>([
    ['broken', 'checksum-wrong', withChecksum(signed.readUInt32LE(checksum) ^ 1)],
    ['broken', 'certificate-table-damaged', changed(signed, (copy) => copy.writeUInt32LE(9999, table.offset))],
    ['unsupported', 'certificate-table-revision-unknown', withShort(0x0201, table.offset + 4)],
    ['unsupported', 'certificate-table-other-type', readFixture('pe/x509-certificate.exe')],
    ['broken', 'hidden-bytes', withTable(table.bytes, Buffer.alloc(8))],
    ['broken', 'hidden-bytes', withTable(oneInPadding)],
    ['note', 'checksum-missing', withChecksum(0)],
    ['warning', 'checksum-wrong', withChecksum(1, readFixture('pe/hello.exe'))],
    ['note', 'certificate-table-stale', readFixture('pe/stale-entry.exe')],
    ['note', 'certificate-table-several', twoEntries],
    ['note', 'certificate-table-revision-old', withShort(0x0100, table.offset + 4)],
    ['note', 'certificate-table-unaligned', unaligned(4)],
    ['note', 'certificate-table-size-differs', shortDirectory],
  ])('has the %s %s', async (weight, code, bytes) => {
    const message = expect.stringMatching(/^[A-Z].*\.$/);
    expect(await (await openBytes(pe, bytes)).examine()).toEqual([{ code, message, weight }]);
  });
});

describe('a signature in it', () => {
  it.each([
    ['one byte', Buffer.from([1, 0, 0, 0, 0, 0, 0, 0])],
    ['eight zeros', Buffer.alloc(8)],
  ])('with %s hidden behind it is broken (CVE-2013-3900)', async (_what, extra) => {
    const hiding = withData(table.data, extra);
    expect(await codesIn(pe, hiding)).toEqual(['hidden-bytes']);
    expect(await warningsOf(await openBytes(pe, hiding))).toHaveLength(1);
    const { result } = await signBytes(pe, hiding, signer);
    expect(await warningsOf(await openBytes(pe, result))).toEqual([]);
    await expect(signBytes(pe, hiding, signer, { mode: 'append' })).rejects.toMatchObject({ code: 'cannot-append' });
  });

  it.each([1, 7])('may be padded with %i zeros', async (zeros) => {
    expect(await codesIn(pe, withData(trimmed, Buffer.alloc(zeros)))).toEqual([]);
  });

  it('that is not one is reported as such', async () => {
    const [signature] = await signaturesIn(readFixture('pe/junk-certificate.exe'));
    expect(await codesOf(signature)).toEqual(['signature-unreadable']);
    expect(signature).toMatchObject({ value: undefined, algorithm: undefined, contained: [], timestamps: [] });
    expect(await signature?.details()).toEqual([]);
  });

  it('of indefinite length (BER) causes a warning only if bytes are hidden after it', async () => {
    const ber = Buffer.concat([Buffer.from('3080', 'hex'), trimmed.subarray(4), Buffer.alloc(2)]);
    const fileWith = (data: Buffer) => withTable(withHeader(data, { length: Math.ceil((data.length + 8) / 8) * 8 }));
    for (const [data, warnings] of [
      [ber, 0],
      [Buffer.concat([ber, Buffer.from('payload')]), 1],
      [ber.subarray(0, 80), 0],
    ] as const) {
      expect(await warningsOf(await openBytes(pe, fileWith(data)))).toHaveLength(warnings);
    }
    const [signature] = await signaturesIn(fileWith(Buffer.concat([ber, Buffer.from('x')])));
    expect(Buffer.from(signature?.envelope.bytes ?? [])).toEqual(ber);
    expect(await codesOf(signature)).toEqual(['hidden-bytes']);
  });
});

it('the layout shows the number of unknown values', async () => {
  const odd = changed(signed, (copy) => {
    const coff = copy.readUInt32LE(60) + 4;
    copy.writeUInt16LE(0x1234, coff);
    copy.writeUInt16LE(99, coff + 20 + 68);
    copy.writeUInt16LE(0x0777, table.offset + 6);
  });
  const values = (await openBytes(pe, odd)).layout().map(({ value }) => value);
  expect(values[0]).toBe('PE32+, machine 0x1234, subsystem 99');
  expect(values.at(-1)).toContain('an entry of the unknown type 0x0777');
});

describe('signatures in a file', () => {
  it('are distinguished from each other when there are two entries, and both are replaced', async () => {
    const file = await openBytes(pe, twoEntries);
    expect(await warningsOf(file)).toHaveLength(1);
    const signatures = await file.signatures();
    expect(signatures.map(({ location }) => location)).toEqual([
      'certificate table, entry 1',
      'certificate table, entry 2',
    ]);
    for (const signature of signatures) expect(await isIntact(signature)).toBe(true);
    const { result } = await signBytes(pe, twoEntries, signer);
    expect((await signaturesIn(result)).map(({ signer }) => signer.name)).toEqual(['Test Publisher']);
  });

  it('of other types are no signatures, but the user is warned about them', async () => {
    for (const name of ['efi-certificate', 'overlong-certificate']) {
      const file = await openBytes(pe, readFixture(`pe/${name}.exe`));
      expect(await file.signatures()).toEqual([]);
      expect(await warningsOf(file)).toHaveLength(1);
    }
  });
});

describe('a signature cannot stand next to', () => {
  const entryOf17MiB = withHeader(Buffer.concat([Buffer.from('308401100000', 'hex'), Buffer.alloc(17 * 2 ** 20)]));
  const oversized = withTable(entryOf17MiB);

  it.each([
    ['two others', twoEntries],
    ['one whose value was changed', withShort(1, signed.length - 40)],
    ['a damaged table', readFixture('pe/overlong-certificate.exe')],
    ['a table that does not begin at a multiple of 8', unaligned(3)],
    ['more than 16 MiB of something', oversized],
  ])('%s, but replaces that', async (_, bytes) => {
    const file = await openBytes(pe, bytes);
    const prepare = checkIn(file, pe, signingContext({ chain: signer.chain }), 'append');
    await expect(prepare).rejects.toMatchObject({ code: 'cannot-append', category: 'local' });
    await signBytes(pe, bytes, signer);
  });

  it('and what is too long to be a signature is listed without being read', async () => {
    const [signature] = await signaturesIn(oversized);
    expect(signature?.envelope.bytes).toHaveLength(0);
  });
});
