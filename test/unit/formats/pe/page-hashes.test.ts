/** Page hashes: written, compared, and refused where a program cannot have them. */

import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { SPC_PAGE_HASHES_V2 } from '../../../../src/asn1/object-identifiers.ts';
import { objectIdentifier } from '../../../../src/asn1/write.ts';
import { memorySource } from '../../../../src/bytes/byte-source.ts';
import { pe } from '../../../../src/formats/pe/index.ts';
import { readLayout } from '../../../../src/formats/pe/layout.ts';
import { checkPageHashes, comparePages, hashPages } from '../../../../src/formats/pe/page-hashes.ts';
import { flipped } from '../../../support/flipped.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { signingIn } from '../support/change.ts';
import { readFixture } from '../support/fixtures.ts';
import { codesOf } from '../support/is-intact.ts';
import { openBytes, signBytes } from '../support/sign-bytes.ts';
import { slowContent } from './slow-pe.ts';

const hello = readFixture('pe/hello.exe');
const optional = hello.readUInt32LE(60) + 24;
const HEADERS_LENGTH = optional + 60;
const sectionTable = optional + hello.readUInt16LE(optional - 4);
const sectionCount = hello.readUInt16LE(optional - 18);

/** Of the program with a last section of three pages and a bit, and an overlay of 100 bytes. */
const long = withFields(Buffer.concat([hello, Buffer.alloc(9000, 'long')]), [
  [sectionTable + (sectionCount - 1) * 40 + 16, 512 + 9000 - 100],
]);

function withFields(original: Buffer, fields: readonly (readonly [offset: number, value: number])[]): Buffer {
  const bytes = Buffer.from(original);
  for (const [offset, value] of fields) bytes.writeUInt32LE(value, offset);
  return bytes;
}

/** The rules once more, over the whole file. */
function slowList(file: Buffer, algorithm: string, pageLength: number): Buffer {
  const entry = (offset: number, page: Buffer, length: number) => {
    const digest = createHash(algorithm)
      .update(Buffer.concat([page], length))
      .digest();
    return Buffer.concat([Buffer.from(Uint32Array.of(offset).buffer), digest]);
  };
  const entries = [entry(0, slowContent(file, file.readUInt32LE(HEADERS_LENGTH)), pageLength - 12)];
  let end = 0;
  for (let index = 0; index < sectionCount; index += 1) {
    const start = file.readUInt32LE(sectionTable + index * 40 + 20);
    end = start + file.readUInt32LE(sectionTable + index * 40 + 16);
    for (let at = start; at < end; at += pageLength) {
      entries.push(entry(at, file.subarray(at, Math.min(at + pageLength, end)), pageLength));
    }
  }
  return Buffer.concat([...entries, entry(end, Buffer.of(), 0).fill(0, 4)]);
}

const listOf = async (file: Buffer, algorithm: 'SHA1' | 'SHA256') => {
  const source = memorySource(file);
  return hashPages(source, await readLayout(source), algorithm);
};

const signer = await makeThrowawaySigner();

describe('page hashes', () => {
  const check = async (bytes: Buffer, options = { pageHashes: true }) =>
    signingIn(await openBytes(pe, bytes)).check(signingContext({ chain: signer.chain }, options), 'replace');

  it.each([
    ['several pages, the last one in part', long, 4096],
    ['another alignment of sections', withFields(long, [[optional + 32, 0x2000]]), 4096],
    ['Itanium', withFields(long, [[optional - 20, (sectionCount << 16) | 0x200]]), 8192],
  ])('are those of the specification: %s', async (_name, bytes, pageLength) => {
    expect(await listOf(bytes, 'SHA256')).toEqual(slowList(bytes, 'sha256', pageLength));
    expect(await listOf(bytes, 'SHA1')).toEqual(slowList(bytes, 'sha1', pageLength));
  });

  it('are in the signature, also next to another one, and are shown', async () => {
    const plain = await signBytes(pe, long, signer);
    const { result } = await signBytes(pe, plain.result, signer, { mode: 'append', pageHashes: true });
    const [outer] = await (await openBytes(pe, result)).signatures();
    const inner = outer?.contained[0]?.signature;
    expect([await codesOf(outer), await codesOf(inner)]).toEqual([[], []]);
    expect(await inner?.details()).toContainEqual({ name: 'page hashes', value: 'SHA256' });
    expect(Buffer.from(inner?.envelope.bytes ?? []).includes(Buffer.from(await listOf(long, 'SHA256')))).toBe(true);
  });

  it.each([
    ['class', Buffer.from('a6b586d5b4a12466ae05a217da8e60d6', 'hex')],
    ['type', Buffer.from(objectIdentifier(SPC_PAGE_HASHES_V2))],
  ])('of an unknown %s are a warning', async (_what, known) => {
    const { result } = await signBytes(pe, long, signer, { pageHashes: true });
    const at = result.indexOf(known);
    expect(at).toBeGreaterThan(0);
    result[at + known.length - 1] = 0x7f;
    const [signature] = await (await openBytes(pe, result)).signatures();
    const findings = await signature?.examine();
    expect(findings).toContainEqual(expect.objectContaining({ code: 'page-hashes-not-checked', weight: 'warning' }));
  });

  it('differ once a page differs, and in length', async () => {
    const layout = await readLayout(memorySource(long));
    const compare = (list: Uint8Array, algorithm: 'SHA1' | 'SHA256') =>
      comparePages({ type: '1.2.3.4', algorithm, list }, layout, (digest) => listOf(long, digest));
    const list = await listOf(long, 'SHA256');
    expect(await compare(await listOf(long, 'SHA1'), 'SHA1')).toEqual([]);
    for (const wrong of [flipped(list, 40), list.subarray(36), Buffer.alloc(0)]) {
      expect(await compare(wrong, 'SHA256')).toMatchObject([{ code: 'page-hashes-differ', weight: 'broken' }]);
    }
  });

  it('are rejected before any request if they would not fit into a signature', async () => {
    const layout = await readLayout(memorySource(long));
    const pages = (end: number) => ({ ...layout, programEnd: end, sections: [{ start: 4096, end }] });
    const context = signingContext({ chain: signer.chain }, { pageHashes: true });
    checkPageHashes(context, pages(1e9), 'replace');
    expect(() => checkPageHashes(context, pages(2e9), 'replace')).toThrowError('too long');
  });

  it.each([
    ['headers of more than a page', withFields(long, [[HEADERS_LENGTH, 4097]]), 'its headers take 4097 bytes'],
    ['headers that end before the fields that are left out', withFields(long, [[HEADERS_LENGTH, 100]]), 'too small'],
    [
      'sections that overlap',
      withFields(long, [
        [sectionTable + 20, 512],
        [sectionTable + 16, 9000],
      ]),
      'overlap',
    ],
  ])('are refused before any request for %s', async (_name, bytes, reason) => {
    const message = expect.stringContaining(reason);
    await expect(check(bytes)).rejects.toMatchObject({ code: 'page-hashes-impossible', message });
    await check(bytes, { pageHashes: false });
  });
});
