import { describe, expect, it } from 'vitest';
import { SPC_SIP_INFO } from '../../../../src/asn1/object-identifiers.ts';
import { spcSipInfo } from '../../../../src/authenticode/sip-info.ts';
import { memorySource } from '../../../../src/bytes/byte-source.ts';
import type { CompoundNode } from '../../../../src/compound-file/format.ts';
import { readCompoundFile, readStream } from '../../../../src/compound-file/read.ts';
import { layOut, newStream } from '../../../../src/compound-file/write.ts';
import { contentOf } from '../../../../src/formats/msi/content.ts';
import { msi } from '../../../../src/formats/msi/index.ts';
import { makePki } from '../../../support/signed-files/pki.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { peculiarSignature } from '../../authenticode/peculiar-signature.ts';
import { applyPatch, insertedBy } from '../support/apply-patch.ts';
import { signingIn } from '../support/change.ts';
import { codesIn } from '../support/is-intact.ts';
import { attachBytes, openBytes, signBytes } from '../support/sign-bytes.ts';
import { makeCompoundFile, storage } from './samples.ts';

const signer = await makeThrowawaySigner();
const original = makeCompoundFile({ version: 4 });

const findingsIn = async (bytes: Buffer) => (await (await openBytes(msi, bytes)).examine()).map(({ code }) => code);

/** With one free sector more, which the FAT has room for. */
const withSector = (bytes: Buffer, content: number) => Buffer.concat([bytes, Buffer.alloc(4096, content)]);

it('finds bytes that belong to no stream, unless they are zeros, and refuses to sign them', async () => {
  const { result } = await signBytes(msi, original, signer);
  expect(await findingsIn(result)).toEqual([]);
  expect(await findingsIn(withSector(result, 0))).toEqual([]);
  expect(await findingsIn(withSector(result, 1))).toEqual(['hidden-bytes']);
  const context = signingContext({ chain: signer.chain });
  const checking = signingIn(await openBytes(msi, withSector(original, 1))).check(context, 'replace');
  await expect(checking).rejects.toMatchObject({ code: 'trailing-bytes' });
  await signingIn(await openBytes(msi, withSector(original, 0))).check(context, 'replace');
});

it('reports a free sector with data between the streams of a signed file, which Windows rejects', async () => {
  const { result } = await signBytes(msi, makeCompoundFile(), signer);
  const large = result.indexOf(Buffer.from('Large\0', 'utf16le'));
  // The last sector no longer belongs to the stream.
  result.writeUInt32LE((Math.ceil(result.readUInt32LE(large + 120) / 512) - 1) * 512, large + 120);
  expect(await findingsIn(result)).toContain('hidden-bytes');
});

it('counts the sectors of the directory in version 4 alone, and leaves the root without a time', async () => {
  for (const version of [3, 4] as const) {
    const { result } = await signBytes(msi, makeCompoundFile({ version }), signer);
    const directory = (result.readUInt32LE(48) + 1) * (version === 3 ? 512 : 4096);
    expect(result.readUInt32LE(40)).toBe(version === 3 ? 0 : 1);
    expect(result.readBigUInt64LE(directory + 100)).toBe(0n);
  }
});

it('does not change the digest of metadata when a signature is appended', async () => {
  const metadataOf = async (bytes: Buffer) => {
    const { root } = await readCompoundFile(memorySource(bytes));
    const stream = root.children.find((child) => isNamed(child, EX));
    return stream?.kind === 'stream' ? readStream(memorySource(bytes), stream) : undefined;
  };
  const first = await signBytes(msi, original, signer);
  const second = await signBytes(msi, first.result, signer, { mode: 'append', algorithm: 'SHA512' });
  expect(await metadataOf(second.result)).toEqual(await metadataOf(first.result));
  expect(await metadataOf(first.result)).toHaveLength(32);
});

it('stores a signature among the small streams or among the large ones, by its length', async () => {
  for (const description of ['short', 'x'.repeat(1000)]) {
    const { result } = await signBytes(msi, original, signer, { description });
    expect(await codesIn(msi, result)).toEqual([]);
  }
});

it('attaches a signature in its own form: over the digest of metadata, or without one like other programs', async () => {
  const metadataIn = async (bytes: Buffer) =>
    (await openBytes(msi, bytes)).layout().find(({ name }) => name === 'metadata digest')?.value;
  expect(await metadataIn(await attachBytes(msi, original, await bareSignature()))).toBe('none');
  const { sealed } = await signBytes(msi, original, signer);
  expect(await metadataIn(await attachBytes(msi, original, sealed))).toBe('in the stream MsiDigitalSignatureEx');
});

type Change = (children: readonly CompoundNode[]) => readonly CompoundNode[];

/** The same file with other children of its root. */
async function withChildren(bytes: Buffer, change: Change) {
  const file = await readCompoundFile(memorySource(bytes));
  const root = { ...file.root, children: change(file.root.children) };
  return applyPatch(bytes, [{ offset: 0, remove: bytes.length, insert: layOut(file, root) }]);
}

const EX = '\x05MsiDigitalSignatureEx';
const isNamed = (child: CompoundNode, name: string) => Buffer.from(child.name).toString('utf16le') === name;
const without =
  (name: string): Change =>
  (children) =>
    children.filter((child) => !isNamed(child, name));
const withStream =
  (name: string, content: string): Change =>
  (children) => [...without(name)(children), newStream(name, Buffer.from(content))];
/** Everything in the entry but the name stays. */
const renamed =
  (from: string, to: string): Change =>
  (children) =>
    children.map((child) => {
      const { name, entry } = newStream(to, Buffer.of());
      const changed = { name, entry: Buffer.concat([entry.subarray(0, 66), child.entry.subarray(66)]) };
      return isNamed(child, from) ? { ...child, ...changed } : child;
    });
const withBits =
  (name: string, offset: number): Change =>
  (children) =>
    children.map((child) => {
      const entry = Buffer.from(child.entry);
      entry.writeUInt32LE(7, offset);
      return isNamed(child, name) ? { ...child, entry } : child;
    });
const moved: Change = (children) => withStream('Ab', 'cd')(withStream('Aa', 'ab')(children));

describe('a signature over the digest of metadata is broken', () => {
  it.each<[string, Change, string]>([
    ['a stream has another name that sorts to the same place', renamed('Small', 'Smalm'), 'metadata-digest-differs'],
    ['bytes moved from one stream to the next', moved, 'metadata-digest-differs'],
    ['an empty stream was added', withStream('Added', ''), 'metadata-digest-differs'],
    ['the state bits of a stream changed', withBits('Small', 96), 'metadata-digest-differs'],
    ['the time of a stream changed', withBits('Large', 108), 'metadata-digest-differs'],
    ['the digest has another name and is content', renamed(EX, '\x05MsiDigitalSignatureEy'), 'metadata-digest-missing'],
    ['the digest is gone', without(EX), 'metadata-digest-missing'],
    ['the digest is too long', withStream(EX, 'x'.repeat(65)), 'metadata-digest-differs'],
  ])('when %s', async (_what, change, code) => {
    const streams = [newStream('Aa', Buffer.from('abc')), newStream('Ab', Buffer.from('d'))];
    const unsigned = await withChildren(original, (children) => [...children, ...streams]);
    const { result } = await signBytes(msi, unsigned, signer);
    expect(await codesIn(msi, await withChildren(result, change))).toContain(code);
  });

  it('also in the form without one, when such a stream was added', async () => {
    const signed = await attachBytes(msi, original, await bareSignature());
    expect(await codesIn(msi, signed)).toEqual([]);
    for (const content of ['', 'x'.repeat(32)]) {
      const changed = await withChildren(signed, withStream(EX, content));
      expect(await codesIn(msi, changed)).toContain('metadata-digest-differs');
    }
  });
});

/** As other programs make it, over content without the digest of metadata. */
async function bareSignature(): Promise<Uint8Array> {
  const { root } = await readCompoundFile(memorySource(original));
  return peculiarSignature(makePki().leaf(), {
    file: insertedBy(contentOf(root, []), original),
    dataType: SPC_SIP_INFO,
    dataValue: spcSipInfo({ version: [1], guid: '000C10F1-0000-0000-C000-000000000046' }).value,
  });
}

it('digests streams in the order of the bytes of their names, not of their code units or of the directory', () => {
  const names = ['\u4001', '\u0141', 'bb'];
  const streams = names.toReversed().map((name) => newStream(name, Buffer.from(name)));
  const root = storage('Root Entry', 5, '00'.repeat(16), streams);
  expect([...contentOf(root, [])].slice(0, -1)).toEqual(names.map((name) => Buffer.from(name)));
});

/** The same file of version 3 with two sectors of a stream exchanged, and those of a small stream. */
function scattered(): Buffer {
  const bytes = makeCompoundFile();
  const sector = (number: number) => (number + 1) * 512;
  const startOf = (name: string) => bytes.indexOf(Buffer.from(`${name}\0`, 'utf16le')) + 116;
  const [fat, miniFat] = [sector(bytes.readUInt32LE(76)), sector(bytes.readUInt32LE(60))];
  const exchange = (one: number, other: number, length: number) => {
    const copy = Buffer.from(bytes.subarray(one, one + length));
    bytes.copy(bytes, one, other, other + length);
    copy.copy(bytes, other);
  };
  const large = bytes.readUInt32LE(startOf('Large'));
  exchange(sector(large + 1), sector(large + 2), 512);
  for (const [index, next] of [2, 3, 1].entries()) bytes.writeUInt32LE(large + next, fat + (large + index) * 4);
  const small = bytes.readUInt32LE(startOf('Small'));
  const content = bytes.indexOf('The content of a small stream');
  exchange(content, content + 64, 64);
  bytes.writeUInt32LE(small + 1, startOf('Small'));
  bytes.writeUInt32LE(small, miniFat + (small + 1) * 4);
  bytes.writeUInt32LE(0xffff_fffe, miniFat + small * 4);
  return bytes;
}

it('is signed to the same bytes wherever its sectors are', async () => {
  const [one, other] = [await signBytes(msi, makeCompoundFile(), signer), await signBytes(msi, scattered(), signer)];
  expect(scattered()).not.toEqual(makeCompoundFile());
  expect(other.result).toEqual(one.result);
});
