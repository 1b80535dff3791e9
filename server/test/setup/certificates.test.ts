/** A key that a CA of the operator's certifies; openssl is that CA. */

import { execFileSync } from 'node:child_process';
import { createHash, verify, X509Certificate } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderForAll, forAll } from '../../../test/support/set-up.ts';
import { importCertificate, requestCertificate } from '../../src/setup/certificates.ts';
import { goodRequest, NUMBER, openApp } from '../support/in-process.ts';
import { operationAt } from '../support/operation.ts';

const server = await forAll(openApp());
const folder = folderForAll();
const at = (name: string) => join(folder, name);

const openssl = (...args: readonly string[]) =>
  execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' }).toString();
openssl(
  ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', 'root.key'],
  ...['-out', 'root.pem', '-subj', '/CN=Root'],
);

const subject = { commonName: 'Example Ltd', organization: 'Examples' };
const request = (number: string) =>
  requestCertificate(server.data, { number, bits: 2048, subject }, operationAt(new Date(), 'certificate request'));
const imported = (number: string, now = new Date()) =>
  importCertificate(server.data, number, at('chain.pem'), operationAt(now, 'certificate import'));

/** Has the CA certify a request. */
async function certify(csr: string, extensions = 'extendedKeyUsage=codeSigning', days = '30') {
  await writeFile(at('request.pem'), csr);
  await writeFile(at('extensions'), extensions);
  openssl(
    ...['x509', '-req', '-in', 'request.pem', '-CA', 'root.pem', '-CAkey', 'root.key', '-CAcreateserial'],
    ...['-days', days, '-extfile', 'extensions', '-out', 'leaf.pem'],
  );
  return await readFile(at('leaf.pem'), 'utf8');
}
const chain = (...pem: readonly string[]) => writeFile(at('chain.pem'), pem.join(''));
const root = () => readFile(at('root.pem'), 'utf8');

test('rejects a certificate that does not belong to the request, and keeps the request', async () => {
  const csr = await request('bought');
  const refused = async (reason: string, now?: Date) =>
    await expect(imported('bought', now)).rejects.toMatchObject({
      code: 'certificate-unusable',
      exitCode: 2,
      message: expect.stringContaining(reason),
    });
  await refused('no such file');
  await chain('no certificate');
  await refused('no PEM certificate');
  await chain('x'.repeat(1024 * 1024 + 1));
  await refused('1048577 bytes');
  await chain('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n');
  await expect(imported('bought')).rejects.toMatchObject({ code: 'certificate-unusable' });
  await chain(await certify(await request(NUMBER)), await root());
  await refused('no certificate in the file belongs to the key');
  await chain(await certify(csr));
  await refused("the issuer's certificate is missing");
  await chain(await certify(csr, 'extendedKeyUsage=serverAuth'), await root());
  await refused('not for code signing');
  await chain(await certify(csr), await root());
  await refused('expired on', new Date(Date.now() + 31 * 24 * 60 * 60 * 1000));
  expect(await server.data.store.certificates.find('bought')).toBeUndefined();
  expect(await request('bought')).toBe(csr);
});

test('openssl takes the request, a CA certifies it, and the running server signs with it', async () => {
  const csr = await request('bought');
  await writeFile(at('request.pem'), csr);
  expect(openssl('req', '-in', 'request.pem', '-noout', '-verify', '-subject', '-nameopt', 'RFC2253')).toContain(
    'subject=CN=Example Ltd,O=Examples',
  );
  expect(await request('bought')).toBe(csr);
  expect((await server.sign({ ...goodRequest(), code: 'bought' })).body.code).toBe(400);

  await chain(await root(), await certify(csr)); // in whichever order
  const file = await imported('bought');
  const [leaf = '', issuer] = (await readFile(file, 'utf8')).split(/(?<=-----END CERTIFICATE-----\n)/);
  expect(new X509Certificate(leaf).subject).toContain('CN=Example Ltd');
  expect(new X509Certificate(issuer ?? '').subject).toBe('CN=Root');
  const digest = createHash('sha256').update('content').digest('base64');
  const { body } = await server.sign({ ...goodRequest(), code: 'bought', digest });
  const signature = Buffer.from(body.data?.signature ?? '', 'base64');
  expect(verify('sha256', Buffer.from('content'), new X509Certificate(leaf).publicKey, signature)).toBe(true);
  expect(await server.data.store.certificateRequests.find('bought')).toBeUndefined();
});

test('a number keeps its key when its certificate is renewed, even if the first one was from the server’s own authority', async () => {
  const before = await server.data.store.certificates.find(NUMBER);
  await chain(await certify(await request(NUMBER)), await root());
  await imported(NUMBER);
  const after = await server.data.store.certificates.find(NUMBER);
  expect(after?.keyId).toBe(before?.keyId);
  expect(new X509Certificate(after?.chain ?? '').issuer).toBe('CN=Root');
});

test('a number without a request has a separate error', async () => {
  await chain(await root());
  await expect(imported('nobody')).rejects.toMatchObject({ code: 'nothing-requested' });
});
