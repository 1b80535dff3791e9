/** Holds what is said about the signatures that are in a file already, and to which of them one can be added. */

import { describe, expect, it } from 'vitest';
import type { ByteSource } from '../../../../src/bytes/byte-source.ts';
import { pe } from '../../../../src/formats/pe/index.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { signingIn, warningsOf } from '../support/change.ts';
import { readFixture } from '../support/fixtures.ts';
import { codesOf, isIntact } from '../support/is-intact.ts';
import { openBytes, plainReader, signBytes } from '../support/sign-bytes.ts';
import { headerOffsets } from './slow-pe.ts';

const signed = readFixture('golden/sha256-rsa2048.exe');
const { entry } = headerOffsets(signed);
const tableOffset = signed.readUInt32LE(entry);
const table = signed.subarray(tableOffset);

const signer = await makeThrowawaySigner();

/** The signed program with these bytes for a table. */
function withTable(...parts: readonly Buffer[]): Buffer {
  const result = Buffer.concat([signed.subarray(0, tableOffset), ...parts]);
  result.writeUInt32LE(result.length - tableOffset, entry + 4);
  return result;
}

/** A table whose only entry has bytes after the CMS that its length counts. */
function withHidden(extra: Buffer): Buffer {
  const longer = Buffer.concat([table, extra]);
  longer.writeUInt32LE(longer.length, 0);
  return withTable(longer);
}

describe('signatures in a file', () => {
  it('are distinguished from each other when there are two entries, and both are replaced', async () => {
    const bytes = withTable(table, table);
    const file = await openBytes(pe, bytes);
    expect(await warningsOf(file)).toHaveLength(1);
    const signatures = await file.signatures();
    expect(signatures).toHaveLength(2);
    for (const signature of signatures) expect(await isIntact(signature)).toBe(true);
    const { result } = await signBytes(pe, bytes, signer);
    const left = await (await openBytes(pe, result)).signatures();
    expect(left.map(({ signer }) => signer.name)).toEqual(['Test Publisher']);
  });

  it('cause a warning if bytes are hidden after one, and lose these bytes', async () => {
    for (const hidden of [Buffer.from('payload!'), Buffer.alloc(16)]) {
      const bytes = withHidden(hidden);
      const file = await openBytes(pe, bytes);
      expect(await warningsOf(file)).toHaveLength(1);
      for (const mode of ['replace', 'append'] as const) {
        const { result } = await signBytes(pe, bytes, signer, { mode });
        expect(await warningsOf(await openBytes(pe, result))).toEqual([]);
      }
    }
  });

  it('cause a warning if bytes are hidden after one of indefinite length (BER), and only then', async () => {
    const length = table.readUInt16BE(10);
    const ber = Buffer.concat([Buffer.from('3080', 'hex'), table.subarray(12, 12 + length), Buffer.alloc(2)]);
    const entryOf = (data: Buffer) => {
      const header = Buffer.from(table.subarray(0, 8));
      const padded = Buffer.concat([header, data, Buffer.alloc((8 - (data.length % 8)) % 8)]);
      padded.writeUInt32LE(padded.length, 0);
      return withTable(padded);
    };
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

  it('are read from an entry of revision 1.0', async () => {
    const old = Buffer.from(table);
    old.writeUInt16LE(0x0100, 4);
    const [signature] = await (await openBytes(pe, withTable(old))).signatures();
    expect(await isIntact(signature)).toBe(true);
  });

  it('that cannot be read are listed as such, and can be replaced', async () => {
    const bytes = readFixture('pe/junk-certificate.exe');
    const signatures = await (await openBytes(pe, bytes)).signatures();
    expect(signatures).toHaveLength(1);
    expect(signatures[0]?.signer.certificate).toBeUndefined();
    expect(await isIntact(signatures[0])).toBe(false);
    await signBytes(pe, bytes, signer);
  });

  it('of other types are no signatures, but the user is warned about them', async () => {
    for (const name of ['efi-certificate', 'x509-certificate', 'overlong-certificate']) {
      const file = await openBytes(pe, readFixture(`pe/${name}.exe`));
      expect(await file.signatures()).toEqual([]);
      expect(await warningsOf(file)).toHaveLength(1);
    }
  });

  it('with a table that does not begin at a multiple of 8 can be replaced, not added to', async () => {
    const bytes = Buffer.concat([signed.subarray(0, tableOffset), Buffer.alloc(3), table]);
    bytes.writeUInt32LE(tableOffset + 3, entry);
    await signBytes(pe, bytes, signer);
    await expect(signBytes(pe, bytes, signer, { mode: 'append' })).rejects.toMatchObject({ code: 'cannot-append' });
  });
});

describe('a signature cannot stand next to', () => {
  it.each([
    ['two others', withTable(table, table)],
    ['one whose value was changed', changedAt(signed, signed.length - 40)],
    ['a damaged table', readFixture('pe/overlong-certificate.exe')],
    ['more than 16 MiB of something', withTable(oversized())],
  ])('%s', async (_, bytes) => {
    const file = await openBytes(pe, bytes);
    const prepare = signingIn(file).prepare(signingContext({ chain: signer.chain }), 'append');
    await expect(prepare).rejects.toMatchObject({ code: 'cannot-append', category: 'local' });
  });

  it('and what is too long to be a signature is listed without being read', async () => {
    const [signature] = await (await openBytes(pe, withTable(oversized()))).signatures();
    expect(signature?.envelope.bytes).toHaveLength(0);
  });
});

describe('a table of 64 entries of 16 MiB', () => {
  const ENTRY = 16 * 1024 * 1024;

  /** Entries that each hold one SEQUENCE; `onRead` gets how many bytes are requested. */
  function sparse(onRead: (length: number) => void): ByteSource {
    const head = Buffer.from(signed.subarray(0, tableOffset));
    head.writeUInt32LE(64 * ENTRY, entry + 4);
    const entryHead = Buffer.from('0000000100020200' + '3083fffff3', 'hex');
    return {
      size: tableOffset + 64 * ENTRY,
      async read(offset, length) {
        onRead(length);
        const bytes = Buffer.alloc(length);
        if (offset < tableOffset) head.copy(bytes, 0, offset, offset + length);
        else entryHead.copy(bytes, 0, (offset - tableOffset) % ENTRY);
        return bytes;
      },
      async *stream() {},
    };
  }

  it('is listed, and no more than 16 MiB of all of it are read', async () => {
    let read = 0;
    const source = sparse((length) => {
      read += length;
    });
    const signatures = await (await pe.open(source, plainReader())).signatures();
    expect(signatures).toHaveLength(64);
    expect(read).toBeGreaterThan(ENTRY - 4096);
    expect(read).toBeLessThan(ENTRY + 65_536);
  });
});

function changedAt(bytes: Buffer, offset: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[offset] = (copy[offset] ?? 0) ^ 1;
  return copy;
}

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
