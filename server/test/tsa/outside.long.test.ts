import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fixture } from '../../../test/support/programs/cli.ts';
import { mainJava, makeTruststore, mustRunJava, runJava, STORE_PASSWORD } from '../../../test/support/programs/java.ts';
import { readEnvironmentFile, startServer, type TestServer } from '../../../test/support/services/server.ts';
import { makePki, toP12 } from '../../../test/support/signed-files/pki.ts';
import { run as check } from '../../../test/system/interop/verifiers.ts';
import { POLICY } from '../../src/tsa/messages.ts';

const run = promisify(execFile);
let folder: string;
let server: TestServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'codesign-tsa-'));
  server = await startServer({ data: join(folder, 'data'), bits: 2048, tsa: true });
  await writeFile(join(folder, 'content'), 'what is stamped');
}, 180_000);
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

const at = (name: string) => join(folder, name);
const root = () => join(server.data, 'service', 'certificates', 'ca.pem');
const chain = () => join(server.data, 'service', 'certificates', 'tsa.pem');
const url = () => server.env.CODESIGN_TIMESTAMP_URL ?? '';

/** Asks by openssl and curl, as a script would. @returns the reply's file, and what openssl reads in it */
async function stamp(name: string, ...options: readonly string[]) {
  await run('openssl', ['ts', '-query', '-data', at('content'), ...options, '-out', at(`${name}.tsq`)]);
  await run('curl', [
    ...['--silent', '--show-error', '--fail', '--max-time', '20', '--cacert', server.caFile],
    ...['--header', 'Content-Type: application/timestamp-query', '--data-binary', `@${at(`${name}.tsq`)}`],
    ...['--output', at(`${name}.tsr`), url()],
  ]);
  const { stdout: text } = await run('openssl', ['ts', '-reply', '-in', at(`${name}.tsr`), '-text']);
  return { reply: at(`${name}.tsr`), query: at(`${name}.tsq`), text };
}

test.each([
  ['sha256', ['-cert']],
  ['sha384', ['-cert', '-no_nonce']],
  ['sha512', ['-cert', '-tspolicy', POLICY]],
  ['sha256', ['-no_nonce']],
  ['sha512', []],
])('what openssl requests with %s %j, it verifies with the one root', async (digest, options) => {
  const { reply, query, text } = await stamp(`${digest}${options.join('')}`, `-${digest}`, ...options);
  expect(text).toContain(`Hash Algorithm: ${digest}\n`);
  expect(text).toContain(`Policy OID: ${POLICY}\n`);
  expect(text.includes('Nonce: 0x')).toBe(!options.includes('-no_nonce'));
  const trust = ['-CAfile', root(), ...(options.includes('-cert') ? [] : ['-untrusted', chain()])];
  for (const against of [
    ['-queryfile', query],
    ['-data', at('content')],
  ]) {
    expect(await check('openssl', ['ts', '-verify', '-in', reply, ...against, ...trust])).toMatchObject({
      accepted: true,
    });
  }
  await writeFile(at('other'), 'what is not stamped');
  const other = await check('openssl', ['ts', '-verify', '-in', reply, '-data', at('other'), ...trust]);
  expect(other.accepted).toBe(false);
});

test('rejects a policy that is another', async () => {
  expect((await stamp('policy', '-sha256', '-tspolicy', '1.2.3.4.1')).text).toContain(
    'Failure info: the requested TSA policy is not supported by the TSA\n',
  );
});

test('ten concurrent ones have ten serial numbers', async () => {
  const replies = await Promise.all(Array.from({ length: 10 }, (_, index) => stamp(`at-once-${index}`, '-sha256')));
  const serials = replies.map(({ text }) => /Serial number: 0x([0-9A-F]{32})\n/.exec(text)?.[1]);
  expect(serials).not.toContain(undefined);
  expect(new Set(serials).size).toBe(10);
});

test('its certificate is for timestamps and nothing else, under the root of the signatures', async () => {
  const purpose = ['-x509_strict', '-purpose', 'timestampsign', '-CAfile', root()];
  expect((await run('openssl', ['verify', ...purpose, chain()])).stdout).toContain(': OK');
  const { stdout } = await run('openssl', ['x509', '-in', chain(), '-noout', '-text']);
  expect(stdout).toMatch(/Extended Key Usage: critical\n +Time Stamping\n/);
  expect(stdout).toMatch(/Key Usage: critical\n +Digital Signature\n/);
  expect(stdout).toContain('Public-Key: (3072 bit)');
});

test('osslsigncode stamps through it, and verifies what it got', async () => {
  const pki = makePki('Stamped');
  const leaf = pki.leaf();
  await writeFile(at('signer.pem'), leaf.pem + pki.intermediate.pem);
  await writeFile(at('signer.key'), leaf.privateKey.export({ type: 'pkcs8', format: 'pem' }));
  await writeFile(at('signer-root.pem'), pki.root.pem);
  await run('osslsigncode', [
    ...['sign', '-certs', at('signer.pem'), '-key', at('signer.key'), '-h', 'sha256'],
    ...['-ts', url(), '-HTTPS-CAfile', server.caFile],
    ...['-in', fixture('pe/hello.exe'), '-out', at('stamped.exe')],
  ]);
  const verify = (trusted: string) => {
    const roots = ['-CAfile', at('signer-root.pem'), '-TSA-CAfile', trusted];
    return check('osslsigncode', ['verify', ...roots, '-in', at('stamped.exe')]);
  };
  const { accepted, output } = await verify(root());
  expect(output).toContain('Timestamp Server Signature verification: ok');
  expect(accepted).toBe(true);
  expect((await verify(at('signer-root.pem'))).output).not.toContain('Timestamp Server Signature verification: ok');
});

test('jarsigner stamps through it, and verifies strictly with the root in its store', async () => {
  const java = mainJava();
  const pki = makePki('Stamped');
  await writeFile(at('signer.p12'), toP12([pki.leaf(), pki.intermediate, pki.root], STORE_PASSWORD));
  const tls = await makeTruststore(await readFile(server.caFile, 'utf8'), await mkdtemp(at('tls-')));
  const store = ['-keystore', at('signer.p12'), '-storepass', STORE_PASSWORD];
  const listed = await mustRunJava(java, 'keytool', ['-list', ...store]);
  const alias = /^(.+?), .*PrivateKeyEntry/m.exec(listed)?.[1] ?? '';
  await mustRunJava(java, 'jarsigner', [
    ...[`-J-Djavax.net.ssl.trustStore=${tls}`, `-J-Djavax.net.ssl.trustStorePassword=${STORE_PASSWORD}`],
    ...[...store, '-tsa', url(), '-signedjar', at('stamped.jar'), fixture('jar/plain.jar'), alias],
  ]);
  const verify = async (certificates: string) => {
    const trust = await makeTruststore(certificates, await mkdtemp(at('trust-')));
    const options = ['-verify', '-strict', '-verbose', '-certs', '-keystore', trust, '-storepass', STORE_PASSWORD];
    return await runJava(java, 'jarsigner', [...options, at('stamped.jar')]);
  };
  const signers = pki.intermediate.pem + pki.root.pem;
  const { accepted, output } = await verify(signers + (await readFile(root(), 'utf8')));
  expect(output).toContain('jar verified.');
  expect(output).toMatch(/The timestamp will expire on|\[entry was signed on /);
  expect(output).not.toMatch(/TSA certificate chain is invalid|not include a timestamp/);
  expect(accepted).toBe(true);
  expect((await verify(signers)).output).toContain('TSA certificate chain is invalid');
});

test('the client’s environment names it, and a start without it has no such address', async () => {
  const handedOver = await readEnvironmentFile(join(server.data, 'client.env'));
  expect(handedOver.CODESIGN_TIMESTAMP_URL).toBe(`${handedOver.CODESIGN_BASE_URL}/tsa`);
  const before = await readFile(chain(), 'utf8');
  await server.stop();

  server = await startServer({ data: server.data, bits: 2048 });
  expect(server.env.CODESIGN_TIMESTAMP_URL).toBe(handedOver.CODESIGN_TIMESTAMP_URL); // as it was left
  const gone = await check('curl', ['--silent', '--fail', '--cacert', server.caFile, `${server.baseUrl}/tsa`]);
  expect(gone.accepted).toBe(false);
  expect(server.log()).not.toContain('CODESIGN_TIMESTAMP_URL');
  await server.stop();

  server = await startServer({ data: server.data, bits: 2048, environment: { CODESIGN_SERVER_TSA: '1' }, tsa: true });
  expect(await readFile(chain(), 'utf8')).toBe(before);
  expect(server.log()).toContain(`CODESIGN_TIMESTAMP_URL='${server.baseUrl}/tsa'`);
  const { reply } = await stamp('restarted', '-sha256', '-cert');
  const verify = ['ts', '-verify', '-in', reply, '-data', at('content'), '-CAfile', root()];
  expect(await check('openssl', verify)).toMatchObject({ accepted: true });
});

test('data made without it get it at the first start that requests it, by the environment too', async () => {
  const data = at('later');
  await (await startServer({ data, bits: 2048 })).stop();
  const later = await startServer({ data, bits: 2048, environment: { CODESIGN_SERVER_TSA: '1' } });
  expect(await readEnvironmentFile(join(data, 'client.env'))).not.toHaveProperty('CODESIGN_TIMESTAMP_URL');
  expect(later.log()).toContain(`CODESIGN_TIMESTAMP_URL='${later.baseUrl}/tsa'`);
  await later.stop();
});
