/** Where trusted roots come from, and what is said of files that hold none. */

import { mkdtemp, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadTrustRoots, type TrustRootsOptions } from '../../../src/verifying/roots.ts';
import { folderForAll } from '../../support/set-up.ts';
import { testKey } from '../../support/signed-files/pki.ts';
import { make } from './support/made-pki.ts';

const folder = folderForAll();
const first = make({ subject: 'First' });
const second = make({ subject: 'Second' });

async function fileOf(contents: string | Uint8Array): Promise<string> {
  const file = path.join(await mkdtemp(path.join(folder, 'f-')), 'roots');
  await writeFile(file, contents);
  return file;
}

const load = (options: Partial<TrustRootsOptions>) => loadTrustRoots({ files: [], environment: {}, ...options });
const namesOf = async (options: Partial<TrustRootsOptions>) => (await load(options)).roots.map(({ name }) => name);
const refusal = (options: Partial<TrustRootsOptions>) =>
  load(options).then(
    () => 'accepted',
    (error: { code: string }) => error.code,
  );
const damaged = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';

describe('a file of roots', () => {
  it('is the only thing trusted when it is given', async () => {
    const files = [await fileOf(`a comment\n${first.pem}\n${second.pem}`), await fileOf(first.der)];
    const SSL_CERT_FILE = await fileOf(make({ subject: 'Third' }).pem);
    expect(await namesOf({ files, environment: { SSL_CERT_FILE } })).toEqual(['First', 'Second', 'First']);
  });

  it('may be trusted together with the system', async () => {
    const [files, systemBundles] = [[await fileOf(first.pem)], [await fileOf(second.pem)]];
    const both = await load({ files, withSystem: true, systemBundles });
    expect(both.roots.map(({ name }) => name)).toEqual(['First', 'Second']);
    expect(both.source).toBe([...files, ...systemBundles].join(', '));
  });

  it('must be readable', async () => {
    expect(await refusal({ files: [path.join(folder, 'missing.pem')] })).toBe('roots-unreadable');
    expect(await refusal({ files: [folder] })).toBe('roots-unreadable');
    expect(await refusal({ environment: { SSL_CERT_FILE: path.join(folder, 'missing') } })).toBe('roots-unreadable');
  });

  it.each([
    ['nothing', ''],
    ['text', 'hello'],
    ['a key', testKey('ec').privateKey.export({ type: 'pkcs8', format: 'pem' })],
    ['a damaged certificate next to a good one', first.pem + damaged],
  ])('must not hold %s', async (_, contents) => {
    expect(await refusal({ files: [await fileOf(contents)] })).toBe('roots-unusable');
  });

  it('has a limit', async () => {
    expect(await refusal({ files: [await fileOf(Buffer.alloc(5 * 1024 * 1024, 0x20))] })).toBe('roots-unreadable');
  });
});

describe('without one', () => {
  it('SSL_CERT_FILE counts, with what can be read of it', async () => {
    const SSL_CERT_FILE = await fileOf(damaged + first.pem);
    const systemBundles = [await fileOf(second.pem)];
    expect(await namesOf({ environment: { SSL_CERT_FILE }, systemBundles })).toEqual(['First']);
  });

  it('the first bundle of the system that can be used counts', async () => {
    const usable = [await fileOf(second.pem), await fileOf(first.pem)];
    const systemBundles = [path.join(folder, 'missing'), await fileOf('empty'), ...usable];
    expect(await namesOf({ systemBundles })).toEqual(['Second']);
    expect((await load({ systemBundles })).source).toBe(systemBundles[2]);
  });

  it('and without a bundle, the roots that Node.js knows of', async () => {
    const { roots, source } = await load({ systemBundles: [] });
    expect(roots.length).toBeGreaterThan(50);
    expect(['Node.js', 'the operating system']).toContain(source);
  });
});
