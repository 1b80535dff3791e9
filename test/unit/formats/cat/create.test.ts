/** New catalogs: their list, and what they say of programs, cabinets and other files. */

import { expect, it } from 'vitest';
import { memorySource } from '../../../../src/bytes/byte-source.ts';
import { cab } from '../../../../src/formats/cab/index.ts';
import { newCatalog } from '../../../../src/formats/cat/create.ts';
import { readCatalog } from '../../../../src/formats/cat/list.ts';
import { listedFile } from '../../../../src/formats/catalogs.ts';
import { pe } from '../../../../src/formats/pe/index.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { makeCabinet } from '../cab/samples.ts';
import { readFixture } from '../support/fixtures.ts';
import { plainReader, signBytes } from '../support/sign-bytes.ts';

const signer = await makeThrowawaySigner();
const listed = (name: string, bytes: Uint8Array) => listedFile(memorySource(bytes), plainReader(), name);
const hexOf = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString('hex');

const CREATED = new Date('2026-11-21T10:00:00.000Z');
const create = (listed: Parameters<typeof newCatalog>[0]) => newCatalog(listed, CREATED);
const program = readFixture('pe/hello.exe');
const files = await Promise.all([
  listed('folder/app.exe', program),
  listed('files.cab', makeCabinet()),
  listed('notes.txt', Buffer.from('notes')),
]);

it('lists each file by SHA-256 and by SHA-1, sorted by these, with its name', () => {
  const { version, members, time } = readCatalog(create(files));
  expect({ version, time }).toEqual({ version: 2, time: CREATED });
  const tags = members.map(({ tag }) => hexOf(tag));
  expect(tags).toEqual(tags.toSorted());
  expect(tags.map((tag) => tag.length).sort()).toEqual([40, 40, 40, 64, 64, 64]);
  for (const { tag, digest, attributes } of members) {
    expect(digest === undefined ? undefined : hexOf(digest.value)).toBe(tag.length === 20 ? undefined : hexOf(tag));
    const file = files.find(({ digests }) => [...digests.values()].some((value) => hexOf(value) === hexOf(tag)));
    expect(attributes).toEqual([{ name: 'File', value: file?.name }]);
  }
});

it('is the same for the same files in any order, and lists files of equal content once', async () => {
  const copy = await listed('a-copy.exe', program);
  expect(create(files.toReversed())).toEqual(create(files));
  expect(create([...files, copy])).toEqual(create([copy, ...files]));
  const { members, identifier } = readCatalog(create([...files, copy]));
  expect(members).toHaveLength(6);
  expect(members.flatMap(({ attributes }) => attributes.map(({ value }) => value))).not.toContain('app.exe');
  expect(identifier).toHaveLength(16);
});

it('lists a signed program like the unsigned one, and other files by all their bytes', async () => {
  const signed = await listed('app.exe', (await signBytes(pe, program, signer)).result);
  expect(signed).toEqual(files[0]);
  const cabinet = makeCabinet({ header: Buffer.alloc(20) });
  const signedCabinet = await listed('files.cab', (await signBytes(cab, cabinet, signer)).result);
  expect(signedCabinet).toEqual(await listed('files.cab', cabinet));
  expect(files.map(({ kind }) => kind)).toEqual(['program', 'cabinet', 'other']);
  expect(hexOf(files[2]?.digests.get('SHA1'))).toBe('3add7b9612102f2a7dbe4ed4fe886e07e847c24d');
});
