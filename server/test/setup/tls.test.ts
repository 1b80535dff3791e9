import { X509Certificate } from 'node:crypto';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { openssl } from '../../../test/support/programs/openssl.ts';
import { copyData } from '../../../test/support/services/server-data.ts';
import { folderForEach } from '../../../test/support/set-up.ts';
import { rsaKey } from '../../../test/support/signed-files/rsa-keys.ts';
import { type DataFolder, dataFolder } from '../../src/setup/data-folder.ts';
import { ownTls, readTls } from '../../src/setup/tls.ts';

const NOW = new Date();
const later = (days: number) => new Date(NOW.getTime() + days * 24 * 60 * 60 * 1000);

const root = folderForEach();
let folder: DataFolder;
beforeEach(async () => {
  await copyData(root.path, 2048);
  folder = dataFolder(root.path);
});

test('makes a certificate for localhost that the TLS authority of the data folder issued', async () => {
  const { certificate, key, caFile } = await ownTls(folder, [], NOW);
  const leaf = new X509Certificate(certificate);
  expect(caFile).toBe(folder.tls.ca);
  expect(leaf.checkHost('localhost')).toBe('localhost');
  expect(leaf.checkIP('127.0.0.1')).toBe('127.0.0.1');
  expect(leaf.checkIP('::1')).toBe('::1');
  expect(leaf.verify(new X509Certificate(await readFile(folder.tls.ca)).publicKey)).toBe(true);
  expect(key).toContain('PRIVATE KEY');
  expect((await stat(folder.tls.server)).mode & 0o777).toBe(0o600);
});

test('keeps it as long as it covers the names and is far from its end, and renews it under the same authority', async () => {
  const authority = await readFile(folder.tls.ca, 'utf8');
  const first = await ownTls(folder, [], NOW);
  expect((await ownTls(folder, [], later(300))).certificate).toBe(first.certificate);
  expect((await ownTls(folder, ['localhost', '127.0.0.1'], NOW)).certificate).toBe(first.certificate);

  const named = await ownTls(folder, ['sign.example.com', '192.0.2.1'], NOW);
  expect(new X509Certificate(named.certificate).checkHost('sign.example.com')).toBe('sign.example.com');
  expect(new X509Certificate(named.certificate).checkIP('192.0.2.1')).toBe('192.0.2.1');
  expect(new X509Certificate(named.certificate).checkHost('localhost')).toBe('localhost');

  const renewed = await ownTls(folder, ['sign.example.com'], later(800));
  expect(renewed.certificate).not.toBe(named.certificate);
  expect(new Date(new X509Certificate(renewed.certificate).validTo).getTime()).toBeGreaterThan(later(1600).getTime());
  expect(await readFile(folder.tls.ca, 'utf8')).toBe(authority);
});

test.each([
  ['empty', () => ''],
  ['cut off', (pem: string) => pem.slice(0, pem.length / 3)],
  ['without its key', (pem: string) => pem.slice(0, pem.indexOf('-----BEGIN PRIVATE'))],
])('makes a certificate again whose file is %s', async (_name, damage) => {
  const { certificate } = await ownTls(folder, [], NOW);
  await writeFile(folder.tls.server, damage(certificate));
  const renewed = await ownTls(folder, [], NOW);
  expect(renewed.certificate).not.toBe(certificate);
  expect(new X509Certificate(renewed.certificate).checkHost('localhost')).toBe('localhost');
  expect((await ownTls(folder, [], NOW)).certificate).toBe(renewed.certificate);
});

test.each(['ca', 'caKey'] as const)('rejects data whose TLS authority is missing or damaged: %s', async (part) => {
  await writeFile(folder.tls[part], '');
  await expect(ownTls(folder, [], NOW)).rejects.toMatchObject({ code: 'data-folder-incomplete', exitCode: 6 });
  await rm(folder.tls[part]);
  await expect(ownTls(folder, [], NOW)).rejects.toMatchObject({ code: 'data-folder-incomplete', exitCode: 6 });
});

test('gives clients the whole path of the operator’s file, whatever folder they run in', async () => {
  const { certificate } = await ownTls(folder, [], NOW);
  const chain = root.at('chain.pem');
  await writeFile(chain, certificate + (await readFile(folder.tls.ca, 'utf8')));
  expect((await readTls(relative(process.cwd(), chain), chain)).caFile).toBe(chain);
});

test('accepts the operator’s own files; a self-signed end of the chain becomes the root for clients', async () => {
  const { certificate } = await ownTls(folder, ['sign.example.com'], NOW);
  const leafFile = root.at('leaf.pem');
  const chainFile = root.at('chain.pem');
  await writeFile(leafFile, certificate);
  await writeFile(chainFile, certificate + (await readFile(folder.tls.ca, 'utf8')));
  expect((await readTls(leafFile, leafFile)).caFile).toBeUndefined();
  expect((await readTls(chainFile, leafFile)).caFile).toBe(chainFile);
});

test('names the file and the option where a file of the operator cannot be read or parsed', async () => {
  const { certificate } = await ownTls(folder, [], NOW);
  const [good, nonsense, encrypted] = [root.at('good.pem'), root.at('nonsense.pem'), root.at('encrypted.pem')];
  const missing = root.at('missing.pem');
  await writeFile(good, certificate);
  await writeFile(nonsense, 'nonsense');
  await writeFile(encrypted, openssl(['genpkey', '-algorithm', 'ED25519', '-aes128', '-pass', 'pass:x']));
  for (const [certificateFile, key, code, words] of [
    [missing, good, 'tls-file-unreadable', ['--tls-cert', missing, 'ENOENT']],
    [good, missing, 'tls-file-unreadable', ['--tls-key', missing, 'ENOENT']],
    [root.path, good, 'tls-file-unreadable', ['--tls-cert', root.path, 'EISDIR']],
    [nonsense, good, 'tls-files-unusable', [nonsense, 'no PEM certificate']],
    [good, nonsense, 'tls-files-unusable', [nonsense]],
    [good, encrypted, 'tls-files-unusable', [encrypted]],
  ] as const) {
    const error = await readTls(certificateFile, key).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code, exitCode: 2 });
    for (const word of words) expect(String(error)).toContain(word);
  }
});

test('rejects a key that does not belong to the first certificate, whatever their types', async () => {
  const { certificate } = await ownTls(folder, [], NOW);
  const ec = root.at('ec.pem');
  const rsa = root.at('rsa.pem');
  const rootFirst = root.at('root-first.pem');
  await writeFile(ec, certificate);
  const pemOf = (name: string) => rsaKey(2048, name).privateKey.export({ type: 'pkcs8', format: 'pem' });
  await writeFile(rsa, pemOf('tls'));
  await writeFile(`${rsa}.other`, pemOf('tls-other'));
  openssl([...'req -x509 -subj /CN=rsa -days 9 -key'.split(' '), rsa, '-out', `${rsa}.crt`]);
  await writeFile(rootFirst, (await readFile(folder.tls.ca, 'utf8')) + certificate);
  expect((await readTls(`${rsa}.crt`, rsa)).key).toContain('PRIVATE KEY');
  for (const [certificateFile, key] of [
    [`${rsa}.crt`, ec],
    [ec, rsa],
    [`${rsa}.crt`, `${rsa}.other`],
    [ec, folder.tls.caKey],
    [rootFirst, ec],
  ] as const) {
    const error = await readTls(certificateFile, key).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'tls-key-mismatch', exitCode: 2 });
    expect(String(error)).toContain(key);
  }
});
