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

const CREATED = new Date('2026-11-21T10:00:00.000Z');
const create = (listed: Parameters<typeof newCatalog>[0]) => newCatalog(listed, CREATED);
const program = readFixture('pe/hello.exe');
const files = await Promise.all([
  listed('folder/app.exe', program),
  listed('files.cab', makeCabinet()),
  listed('notes.txt', Buffer.from('notes')),
]);

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
  expect(Buffer.from(files[2]?.digests.get('SHA1') ?? []).toString('hex')).toBe(
    '3add7b9612102f2a7dbe4ed4fe886e07e847c24d',
  );
});
