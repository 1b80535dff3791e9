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
const own = async (names: readonly string[] = [], now = NOW) => (await ownTls(folder, names, now)).certificate;
/** Writes a file. @returns its path */
async function file(name: string, text: string): Promise<string> {
  await writeFile(root.at(name), text);
  return root.at(name);
}

test('makes a certificate for localhost that the TLS authority of the data folder issued', async () => {
  const { certificate, key, caFile } = await ownTls(folder, [], NOW);
  const leaf = new X509Certificate(certificate);
  expect(caFile).toBe(folder.tls.ca);
  expect([leaf.checkHost('localhost'), leaf.checkIP('127.0.0.1'), leaf.checkIP('::1')]).not.toContain(undefined);
  expect(leaf.verify(new X509Certificate(await readFile(folder.tls.ca)).publicKey)).toBe(true);
  expect(key).toContain('PRIVATE KEY');
  expect((await stat(folder.tls.server)).mode & 0o777).toBe(0o600);
});

test('keeps it as long as it covers the names and is far from its end, and renews it under the same authority', async () => {
  const authority = await readFile(folder.tls.ca, 'utf8');
  const first = await own();
  expect(await own([], later(300))).toBe(first);
  expect(await own(['localhost', '127.0.0.1'])).toBe(first);

  const named = await own(['sign.example.com', '192.0.2.1']);
  const leaf = new X509Certificate(named);
  const covered = [leaf.checkHost('sign.example.com'), leaf.checkIP('192.0.2.1'), leaf.checkHost('localhost')];
  expect(covered).not.toContain(undefined);
  const renewed = await own(['sign.example.com'], later(800));
  expect(renewed).not.toBe(named);
  expect(new Date(new X509Certificate(renewed).validTo).getTime()).toBeGreaterThan(later(1600).getTime());
  expect(await readFile(folder.tls.ca, 'utf8')).toBe(authority);
});

test.each([
  ['empty', () => ''],
  ['cut off', (pem: string) => pem.slice(0, pem.length / 3)],
  ['without its key', (pem: string) => pem.slice(0, pem.indexOf('-----BEGIN PRIVATE'))],
])('makes a certificate again whose file is %s', async (_name, damage) => {
  const certificate = await own();
  await writeFile(folder.tls.server, damage(certificate));
  const renewed = await own();
  expect(renewed).not.toBe(certificate);
  expect(new X509Certificate(renewed).checkHost('localhost')).toBe('localhost');
  expect(await own()).toBe(renewed);
});

test.each(['ca', 'caKey'] as const)('rejects data whose TLS authority is missing or damaged: %s', async (part) => {
  await writeFile(folder.tls[part], '');
  await expect(own()).rejects.toMatchObject({ code: 'data-folder-incomplete', exitCode: 6 });
  await rm(folder.tls[part]);
  await expect(own()).rejects.toMatchObject({ code: 'data-folder-incomplete', exitCode: 6 });
});

test('accepts the operator’s own files; a self-signed end of the chain becomes the root for clients', async () => {
  const certificate = await own(['sign.example.com']);
  const leaf = await file('leaf.pem', certificate);
  const chain = await file('chain.pem', certificate + (await readFile(folder.tls.ca, 'utf8')));
  expect((await readTls(leaf, leaf)).caFile).toBeUndefined();
  expect((await readTls(relative(process.cwd(), chain), leaf)).caFile).toBe(chain); // whatever folder clients run in
});

test('names the file and the option where a file of the operator cannot be read or parsed', async () => {
  const [good, nonsense] = [await file('good.pem', await own()), await file('nonsense.pem', 'nonsense')];
  const passphrase = openssl(['genpkey', '-algorithm', 'ED25519', '-aes128', '-pass', 'pass:x']);
  const encrypted = root.at('encrypted.pem');
  await writeFile(encrypted, passphrase);
  const missing = root.at('missing.pem');
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
  const certificate = await own();
  const pemOf = (name: string) => `${rsaKey(2048, name).privateKey.export({ type: 'pkcs8', format: 'pem' })}`;
  const [rsa, other] = [await file('rsa.pem', pemOf('tls')), await file('other.pem', pemOf('tls-other'))];
  const rsaCertificate = root.at('rsa.crt');
  openssl([...'req -x509 -subj /CN=rsa -days 9 -key'.split(' '), rsa, '-out', rsaCertificate]);
  const ec = await file('ec.pem', certificate);
  const rootFirst = await file('root-first.pem', (await readFile(folder.tls.ca, 'utf8')) + certificate);
  expect((await readTls(rsaCertificate, rsa)).key).toContain('PRIVATE KEY');
  for (const [certificateFile, key] of [
    [rsaCertificate, ec],
    [ec, rsa],
    [rsaCertificate, other],
    [ec, folder.tls.caKey],
    [rootFirst, ec],
  ] as const) {
    const error = await readTls(certificateFile, key).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'tls-key-mismatch', exitCode: 2 });
    expect(String(error)).toContain(key);
  }
});
