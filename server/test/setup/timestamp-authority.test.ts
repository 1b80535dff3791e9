import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { copyData } from '../../../test/support/services/server-data.ts';
import { dataConfig } from '../../src/config.ts';
import { openTimestampAuthority } from '../../src/setup/certificates.ts';
import { type OpenData, openData } from '../../src/setup/open-data.ts';

const YEAR = 365 * 24 * 60 * 60 * 1000;

let root: string;
let data: OpenData;
const open = async () => {
  data = await openData(dataConfig({ data: root }, {}), process.env);
};
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'codesign-authority-'));
  await copyData(root, 3072);
  await open();
});
afterEach(async () => {
  await data.close();
  await rm(root, { recursive: true, force: true });
});

test('is made once, and found again after a restart', async () => {
  const now = new Date();
  const made = await openTimestampAuthority(data, now);
  await data.close();
  await open();
  const found = await openTimestampAuthority(data, now);
  expect(found.key.id).toBe(made.key.id);
  expect(found.chain).toEqual(made.chain);
  expect(new X509Certificate(Buffer.from(found.chain[0])).publicKey.equals(found.key.publicKey)).toBe(true);
});

test('is another one, with another key, when its certificate ends before code-signing certificates would', async () => {
  const now = new Date();
  const first = await openTimestampAuthority(data, now);
  expect(first.notAfter.getTime() - now.getTime()).toBe(10 * YEAR - (now.getTime() % 1000));
  const kept = await openTimestampAuthority(data, new Date(now.getTime() + 6.9 * YEAR));
  expect(kept.key.id).toBe(first.key.id);
  const next = await openTimestampAuthority(data, new Date(now.getTime() + 7.1 * YEAR));
  expect(next.key.id).not.toBe(first.key.id);
  expect(await readFile(data.folder.timestampAuthority, 'utf8')).toContain(
    Buffer.from(next.chain[0]).toString('base64').slice(0, 64),
  );
  expect((await openTimestampAuthority(data, now)).key.id).toBe(next.key.id);
});

test('two concurrent starts both use the one that was stored first', async () => {
  const now = new Date();
  const [one, other] = await Promise.all([openTimestampAuthority(data, now), openTimestampAuthority(data, now)]);
  expect(one.key.id).toBe(other.key.id);
  expect((await data.store.authorities.get('time-stamping'))?.keyId).toBe(one.key.id);
});

test('a key that the HSM lost is an error, and not replaced in silence', async () => {
  await data.store.authorities.replace('time-stamping', undefined, {
    keyId: '00'.repeat(16),
    chain: (await data.store.certificates.list())[0]?.chain ?? '',
  });
  const now = new Date(Date.now() - YEAR); // of a certificate that lasts
  await expect(openTimestampAuthority(data, now)).rejects.toMatchObject({ code: 'key-not-found' });
});
