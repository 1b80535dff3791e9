/** Digests of entries that are the original's are looked up; of all others they are made, from the copy's own bytes. */

import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { memorySource } from '../../../src/bytes/byte-source.ts';
import { originIn } from '../../../src/signing/files/patch-geometry.ts';
import { rememberDigests } from '../../../src/signing/files/remembered-digests.ts';
import { readArchive } from '../../../src/zip/archive.ts';
import { editArchive } from '../../../src/zip/edit-archive.ts';
import { type DigestEntries, digestEntries } from '../../../src/zip/entry-digests.ts';
import { deflatedEntry, storedEntry } from '../../../src/zip/new-entry.ts';
import { applyPatch } from '../formats/support/apply-patch.ts';
import { contentsOf } from '../zip/support/reading.ts';
import { buildZip, deflated, type EntryParts, stored } from '../zip/support/zip-builder.ts';

const ENTRIES: readonly EntryParts[] = [
  stored('empty/', { contents: '' }),
  stored('a.txt'),
  deflated('b.txt', { contents: 'b'.repeat(1000) }),
  stored('empty.txt', { contents: '' }),
  deflated('c.txt', { descriptor: 'signed' }),
];

/** Digests as the real one does, and keeps the names of the entries it was asked about. */
function countingDigests(): { readonly digest: DigestEntries; readonly asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    digest: (source, entries, algorithms) => {
      asked.push(...entries.map(({ name }) => name));
      return digestEntries(source, entries, algorithms);
    },
  };
}

/** The digests of all entries of a changed archive, and which of them were made, not looked up. */
async function digestsOfCopy(
  original: Buffer,
  change: { readonly remove?: readonly string[]; readonly first?: Parameters<typeof editArchive>[1]['first'] },
  { remembered = ['sha256'], asked: algorithms = ['sha256'], tamper = (copy: Buffer): Buffer => copy } = {},
) {
  const { digest, asked } = countingDigests();
  const memory = rememberDigests(digest);
  const archive = await readArchive(memorySource(original));
  for (const algorithm of remembered) await memory.digestEntries(memorySource(original), archive.entries, [algorithm]);
  asked.length = 0;

  const remove = new Set(archive.entries.filter(({ name }) => change.remove?.includes(name)));
  const patch = editArchive(archive, { remove, first: change.first ?? [] });
  const copy = tamper(applyPatch(original, patch));
  const { entries } = await readArchive(memorySource(copy));
  const digests = await memory.forCopy(originIn(patch, original.length))(memorySource(copy), entries, algorithms);
  const found = entries.map(({ name }, position) => [name, digests.base64(position, algorithms[0] ?? '')]);
  const expected = [...(await contentsOf(copy))].map(([name, text]) => [
    name,
    createHash(algorithms[0] ?? '')
      .update(text, 'latin1')
      .digest('base64'),
  ]);
  return { found, expected, made: asked };
}

describe('digests of a copy', () => {
  const original = buildZip({ entries: ENTRIES });

  it('are looked up for all entries that are not touched', async () => {
    const { found, expected, made } = await digestsOfCopy(original, {});
    expect(found).toEqual(expected);
    expect(made).toEqual([]);
  });

  it('are made for what was added, and looked up for what only moved', async () => {
    const first = [deflatedEntry('NEW', Buffer.from('new')), storedEntry('NEWER', Buffer.from('newer'))];
    const { found, expected, made } = await digestsOfCopy(original, { first, remove: ['b.txt'] });
    expect(found).toEqual(expected);
    expect(made).toEqual(['NEW', 'NEWER']);
  });

  it('are made for an entry of the same name, place, size and method with other contents', async () => {
    const original = buildZip({ entries: [stored('a.txt', { contents: 'one' }), stored('b.txt')] });
    const first = [storedEntry('a.txt', Buffer.from('two'))];
    const { found, expected, made } = await digestsOfCopy(original, { first, remove: ['a.txt'] });
    expect(found).toEqual(expected);
    expect(made).toEqual(['a.txt']);
  });

  it.each<[string, number, number]>([
    ['another CRC-32', 16, 0x12345678],
    ['another size', 24, 7],
  ])('are made where the record in the copy says %s', async (_, at, value) => {
    const original = buildZip({ entries: [stored('x'), deflated('b.txt', { descriptor: 'bare' })] });
    // In its directory's record and its descriptor, which must agree for the copy to be read at all.
    const tamper = (copy: Buffer): Buffer => {
      const record = copy.lastIndexOf('PK\x01\x02', undefined, 'latin1');
      const first = copy.indexOf('PK\x01\x02', 0, 'latin1');
      copy.writeUInt32LE(value, record + at);
      copy.writeUInt32LE(value, first - 12 + (at === 16 ? 0 : 8));
      return copy;
    };
    await expect(digestsOfCopy(original, {}, { tamper })).rejects.toMatchObject({ code: 'zip-entry-damaged' });
  });

  it('are made where another algorithm is requested', async () => {
    const { found, expected, made } = await digestsOfCopy(original, {}, { asked: ['sha512'] });
    expect(found).toEqual(expected);
    expect(made).toEqual(ENTRIES.map(({ name }) => name));
  });

  it('are looked up in the call that knows the algorithm', async () => {
    const calls = { remembered: ['sha1', 'sha512'], asked: ['sha512'] };
    const { found, expected, made } = await digestsOfCopy(original, {}, calls);
    expect(found).toEqual(expected);
    expect(made).toEqual([]);
  });

  it('are made by all algorithms where one call knows not all of them', async () => {
    const calls = { remembered: ['sha1', 'sha512'], asked: ['sha512', 'sha1'] };
    const { found, expected, made } = await digestsOfCopy(original, {}, calls);
    expect(found).toEqual(expected);
    expect(made).toEqual(ENTRIES.map(({ name }) => name));
  });

  it('are made for everything where no bytes are known to be the original’s', async () => {
    const { digest, asked } = countingDigests();
    const memory = rememberDigests(digest);
    const source = memorySource(original);
    const { entries } = await readArchive(source);
    await memory.digestEntries(source, entries, ['sha256']);
    asked.length = 0;
    const digests = await memory.forCopy(() => undefined)(source, entries, ['sha256']);
    expect(asked).toEqual(ENTRIES.map(({ name }) => name));
    expect(digests.base64(1, 'sha256')).toBe(createHash('sha256').update('This is a.txt.\n').digest('base64'));
  });
});
