/** What an examination finds in a PE file and in the entries of its signatures, and to which of these one can be added. */

import { describe, expect, it } from 'vitest';
import { type ByteSource, memorySource } from '../../../../src/bytes/byte-source.ts';
import { type MeasureContent, measureContent } from '../../../../src/crypto/measure-content.ts';
import { hasFindingAgainst } from '../../../../src/errors/finding.ts';
import { pe } from '../../../../src/formats/pe/index.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { checkIn, removalOf, stampIn, warningsOf } from '../support/change.ts';
import { readFixture } from '../support/fixtures.ts';
import { codesOf, isIntact } from '../support/is-intact.ts';
import { openBytes, plainReader, signBytes } from '../support/sign-bytes.ts';
import { headerOffsets, slowChecksum } from './slow-pe.ts';
import { tableOf, withCertificates, withHeader } from './tables.ts';

const signed = readFixture('golden/sha256-rsa2048.exe');
const { checksum, entry } = headerOffsets(signed);
const table = tableOf(signed);
/** Without padding. */
const trimmed = table.data.subarray(0, 4 + table.data.readUInt16BE(2));
const signer = await makeThrowawaySigner();
const withTable = (...parts: readonly Buffer[]) => withCertificates(signed, ...parts);

const examine = async (bytes: Buffer) => (await openBytes(pe, bytes)).examine();
const firstCodes = async (bytes: Buffer) => codesOf((await (await openBytes(pe, bytes)).signatures())[0]);

/** A copy with CheckSum right unless told otherwise. */
function changed(bytes: Buffer, change: (copy: Buffer) => unknown, mendChecksum = true): Buffer {
  const copy = Buffer.from(bytes);
  change(copy);
  if (mendChecksum) copy.writeUInt32LE(slowChecksum(copy), checksum);
  return copy;
}
const withShort = (value: number, offset: number) => changed(signed, (copy) => copy.writeUInt16LE(value, offset));
const withChecksum = (value: number, bytes = signed) =>
  changed(bytes, (copy) => copy.writeUInt32LE(value, checksum), false);
const withData = (...parts: readonly Uint8Array[]) => withTable(withHeader(Buffer.concat(parts)));

describe('a PE file', () => {
  it.each([
    ...['golden/sha256-rsa2048.exe', 'golden/appended-twice.exe', 'golden/padded-1-byte.exe', 'golden/pe32.exe'],
    // Linkers leave out the checksum.
    ...['pe/hello.exe', 'pe/pe32.exe'],
  ])('%s has nothing odd', async (name) => {
    expect(await examine(readFixture(name))).toEqual([]);
  });

  const late = withHeader(Buffer.concat([table.data, Buffer.from([0, 0, 0, 0, 0, 0, 0, 1])]), {
    length: table.length + 7,
  });

  it.each<[string, Buffer]>([
    ['checksum-wrong', withChecksum(signed.readUInt32LE(checksum) ^ 1)],
    ['certificate-table-damaged', changed(signed, (copy) => copy.writeUInt32LE(table.length + 8, table.offset))],
    ['certificate-table-revision-unknown', withShort(0x0201, table.offset + 4)],
    ['certificate-table-other-type', withShort(3, table.offset + 6)],
    ['certificate-table-other-type', readFixture('pe/x509-certificate.exe')],
    ['certificate-table-other-type', readFixture('pe/efi-certificate.exe')],
    ['hidden-bytes', withTable(table.bytes, Buffer.alloc(8))],
    ['hidden-bytes', withTable(late)],
  ])('with %s is broken', async (code, bytes) => {
    const findings = await examine(bytes);
    expect(findings.map((finding) => finding.code)).toEqual([code]);
    expect(hasFindingAgainst(findings, 'integrity')).toBe(true);
  });

  it.each<[string, Buffer]>([
    ['checksum-missing', withChecksum(0)],
    ['checksum-wrong', withChecksum(1, readFixture('pe/hello.exe'))],
    ['certificate-table-stale', readFixture('pe/stale-entry.exe')],
    ['certificate-table-several', withTable(table.bytes, table.bytes)],
    ['certificate-table-revision-old', withShort(0x0100, table.offset + 4)],
    ['certificate-table-unaligned', unaligned(4)],
    ['certificate-table-size-differs', shortDirectory()],
  ])('with %s is odd', async (code, bytes) => {
    const weight = code === 'checksum-wrong' ? 'warning' : 'note';
    expect(await examine(bytes)).toEqual([{ code, message: expect.stringMatching(/^[A-Z].*\.$/), weight }]);
  });
});

describe('a signature in it', () => {
  it.each([
    ['bytes', Buffer.from('payload!')],
    ['one byte', Buffer.from([1, 0, 0, 0, 0, 0, 0, 0])],
    ['eight zeros', Buffer.alloc(8)],
  ])('with %s hidden behind it is broken (CVE-2013-3900)', async (_what, extra) => {
    const hiding = withData(table.data, extra);
    expect(await firstCodes(hiding)).toEqual(['hidden-bytes']);
    expect(await examine(hiding)).toEqual([]);
    expect(await warningsOf(await openBytes(pe, hiding))).toHaveLength(1);
    const { result } = await signBytes(pe, hiding, signer);
    expect(await warningsOf(await openBytes(pe, result))).toEqual([]);
    await expect(signBytes(pe, hiding, signer, { mode: 'append' })).rejects.toMatchObject({ code: 'cannot-append' });
  });

  it.each([1, 2, 3, 4, 5, 6, 7])('may be padded with %i zeros', async (zeros) => {
    expect(await firstCodes(withData(trimmed, Buffer.alloc(zeros)))).toEqual([]);
  });

  it('of another program is seen', async () => {
    const other = readFixture('golden/pe32.exe');
    expect(await firstCodes(withTable(tableOf(other).bytes))).toEqual(['content-digest-differs']);
  });

  it('that is not one is reported as such, with the reason', async () => {
    const [signature] = await (await openBytes(pe, readFixture('pe/junk-certificate.exe'))).signatures();
    expect(await codesOf(signature)).toEqual(['signature-unreadable']);
    expect(signature).toMatchObject({ value: undefined, algorithm: undefined, contained: [], timestamps: [] });
    expect(await signature?.details()).toEqual([]);
  });

  it('and those nested in it have different numbers', async () => {
    const [outer] = await (await openBytes(pe, readFixture('golden/appended-twice.exe'))).signatures();
    expect([outer, ...(outer?.contained ?? []).map((one) => one.signature)].map((each) => each?.location)).toEqual([
      'certificate table, entry 1',
      'nested signature 1 in certificate table, entry 1',
      'nested signature 2 in certificate table, entry 1',
    ]);
    const [, second] = await (await openBytes(pe, withTable(table.bytes, table.bytes))).signatures();
    expect(second?.location).toBe('certificate table, entry 2');
  });
});

describe('the layout', () => {
  it('is detected as a signed program', async () => {
    const details = (await openBytes(pe, signed)).layout().map(({ name, value }) => `${name}: ${value}`);
    expect(details).toEqual([
      'program: PE32+, x64, console',
      `program end: byte ${table.offset}`,
      `checksum: 0x${signed.readUInt32LE(checksum).toString(16).padStart(8, '0')}`,
      `certificate table: at byte ${table.offset}, ${table.length} bytes`,
      `entry 1: a PKCS#7 signature, revision 2.0, at byte ${table.offset}, ${table.length} bytes`,
    ]);
  });

  it.each([
    ['pe/pe32.exe', 'program', 'PE32, x86, console'],
    ['pe/arm64.exe', 'program', 'PE32+, ARM64, console'],
    ['pe/program.efi', 'program', 'PE32+, x64, EFI application'],
    ['pe/pe32.exe', 'checksum', 'none'],
    ['pe/hello.exe', 'certificate table', 'none'],
    ['pe/overlong-certificate.exe', 'damage', expect.stringContaining('says it is')],
    ['pe/efi-certificate.exe', 'entry 1', expect.stringContaining('an EFI signature')],
    ['pe/stale-entry.exe', 'certificate table', expect.stringMatching(/^none, although the header says/)],
  ])('of %s says of %s: %s', async (name, detail, value) => {
    const details = (await openBytes(pe, readFixture(name))).layout();
    expect(details.find((each) => each.name === detail)?.value).toEqual(value);
  });

  it('shows the number of unknown values', async () => {
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
});

it('reads the content once for the file and all of its signatures, and not before it is needed', async () => {
  const bytes = readFixture('golden/appended-twice.exe');
  const asked: string[] = [];
  const measure: MeasureContent = (source, content, measures) => {
    asked.push(measures.join());
    return measureContent(source, content, measures);
  };
  const file = await pe.open(memorySource(bytes), { ...plainReader(), measure });
  const [outer] = await file.signatures();
  file.layout();
  expect(outer?.timestamps).toEqual([]);
  expect(asked).toEqual([]);
  const all = [outer, ...(outer?.contained ?? []).map((one) => one.signature)];
  await Promise.all([file.examine(), ...all.flatMap((each) => [each?.examine(), each?.details()])]);
  await removalOf(file);
  await stampIn(file, new Map());
  await (await file.signatures())[0]?.examine();
  expect(asked).toHaveLength(1);
  expect(new Set(asked[0]?.split(','))).toEqual(new Set([...all.map((each) => each?.algorithm), 'SUM16']));
});

/** The table begins late. */
function unaligned(bytes: number): Buffer {
  const result = Buffer.concat([signed.subarray(0, table.offset), Buffer.alloc(bytes), table.bytes]);
  return changed(result, (copy) => copy.writeUInt32LE(table.offset + bytes, entry));
}

/** The directory's Size leaves out the padding of the entry, whose length does too. */
function shortDirectory(): Buffer {
  const padded = withTable(withHeader(trimmed));
  return changed(padded, (copy) => copy.writeUInt32LE(trimmed.length + 8, entry + 4));
}

describe('signatures in a file', () => {
  it('are distinguished from each other when there are two entries, and both are replaced', async () => {
    const bytes = withTable(table.bytes, table.bytes);
    const file = await openBytes(pe, bytes);
    expect(await warningsOf(file)).toHaveLength(1);
    const signatures = await file.signatures();
    expect(signatures).toHaveLength(2);
    for (const signature of signatures) expect(await isIntact(signature)).toBe(true);
    const { result } = await signBytes(pe, bytes, signer);
    const left = await (await openBytes(pe, result)).signatures();
    expect(left.map(({ signer }) => signer.name)).toEqual(['Test Publisher']);
  });

  it('cause a warning if bytes are hidden after one of indefinite length (BER), and only then', async () => {
    const ber = Buffer.concat([Buffer.from('3080', 'hex'), trimmed.subarray(4), Buffer.alloc(2)]);
    const entryOf = (data: Buffer) => withTable(withHeader(data, { length: Math.ceil((data.length + 8) / 8) * 8 }));
    for (const [data, warnings] of [
      [ber, 0],
      [Buffer.concat([ber, Buffer.from('payload')]), 1],
      [Buffer.concat([ber, Buffer.alloc(16)]), 1],
      [ber.subarray(0, 80), 0],
    ] as const) {
      expect(await warningsOf(await openBytes(pe, entryOf(data)))).toHaveLength(warnings);
    }
    const [signature] = await (await openBytes(pe, entryOf(Buffer.concat([ber, Buffer.from('x')])))).signatures();
    expect(Buffer.from(signature?.envelope.bytes ?? [])).toEqual(ber);
    expect(await codesOf(signature)).toEqual(['hidden-bytes']);
  });

  it('of other types are no signatures, but the user is warned about them', async () => {
    for (const name of ['efi-certificate', 'x509-certificate', 'overlong-certificate']) {
      const file = await openBytes(pe, readFixture(`pe/${name}.exe`));
      expect(await file.signatures()).toEqual([]);
      expect(await warningsOf(file)).toHaveLength(1);
    }
  });

  it('with a table that does not begin at a multiple of 8 can be replaced, not added to', async () => {
    const bytes = unaligned(3);
    await signBytes(pe, bytes, signer);
    await expect(signBytes(pe, bytes, signer, { mode: 'append' })).rejects.toMatchObject({ code: 'cannot-append' });
  });
});

describe('a signature cannot stand next to', () => {
  it.each([
    ['two others', withTable(table.bytes, table.bytes)],
    [
      'one whose value was changed',
      changed(signed, (copy) => copy.writeUInt8(copy.at(-40) === 0 ? 1 : 0, copy.length - 40)),
    ],
    ['a damaged table', readFixture('pe/overlong-certificate.exe')],
    ['more than 16 MiB of something', withTable(oversized())],
  ])('%s', async (_, bytes) => {
    const file = await openBytes(pe, bytes);
    const prepare = checkIn(file, pe, signingContext({ chain: signer.chain }), 'append');
    await expect(prepare).rejects.toMatchObject({ code: 'cannot-append', category: 'local' });
  });

  it('and what is too long to be a signature is listed without being read', async () => {
    const [signature] = await (await openBytes(pe, withTable(oversized()))).signatures();
    expect(signature?.envelope.bytes).toHaveLength(0);
  });
});

it('lists a table of 64 entries of 16 MiB, and reads no more than 16 MiB of all of it', async () => {
  const ENTRY = 16 * 1024 * 1024;
  const head = changed(signed, (copy) => copy.writeUInt32LE(64 * ENTRY, entry + 4), false);
  // Each entry holds one SEQUENCE.
  const entryHead = Buffer.from('0000000100020200' + '3083fffff3', 'hex');
  let read = 0;
  const source: ByteSource = {
    size: table.offset + 64 * ENTRY,
    async read(offset, length) {
      read += length;
      const bytes = Buffer.alloc(length);
      if (offset < table.offset) head.copy(bytes, 0, offset, Math.min(offset + length, table.offset));
      else entryHead.copy(bytes, 0, (offset - table.offset) % ENTRY);
      return bytes;
    },
    async *stream() {},
  };
  expect(await (await pe.open(source, plainReader())).signatures()).toHaveLength(64);
  expect(read).toBeGreaterThan(ENTRY - 4096);
  expect(read).toBeLessThan(ENTRY + 65_536);
});

/** A WIN_CERTIFICATE with a SEQUENCE of 17 MiB. */
function oversized(): Buffer {
  const length = 17 * 1024 * 1024;
  const bytes = Buffer.alloc(length);
  bytes.writeUInt32LE(length, 0);
  bytes.writeUInt32LE(0x0002_0200, 4);
  bytes.set([0x30, 0x84], 8);
  bytes.writeUInt32BE(length - 8 - 6, 10);
  return bytes;
}
