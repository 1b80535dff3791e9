/** The command line through a proxy: the real service by a name that only the proxy knows, an authority, a revocation list. */

import { writeFile } from 'node:fs/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fixture, parseJson, runCli } from '../../../support/programs/cli.ts';
import { startMisbehavingService } from '../../../support/services/misbehaving-service.ts';
import { startProxy } from '../../../support/services/proxy.ts';
import { startServer } from '../../../support/services/server.ts';
import { startTimestampAuthority } from '../../../support/services/timestamp-authority.ts';
import { folderForEach, forAll } from '../../../support/set-up.ts';
import { testKey } from '../../../support/signed-files/pki.ts';
import { make, SIGNER } from '../../../unit/verifying/support/made-pki.ts';

const [server, authority] = await Promise.all([
  forAll(startServer({ bits: 2048, args: ['--tls-name', 'service.test'] })),
  forAll(startTimestampAuthority()),
]);

const folder = folderForEach();
const named = (address: string, name: string) => address.replace('127.0.0.1', name);
const env = () => ({ ...server.env, CODESIGN_BASE_URL: named(server.baseUrl, 'service.test') });

describe('sign', () => {
  it.each(['option', 'environment'])('reaches service and authority through the proxy of the %s', async (place) => {
    await using proxy = await startProxy(place === 'option' ? {} : { credentials: 'user:hunter2' });
    const path = folder.at('app.exe');
    const address = proxy.url.replace('//', place === 'option' ? '//' : '//user:hunter2@');
    const tsa = named(authority.urlOf('ok'), 'tsa.test');
    const args = ['sign', '--json', '--verbose', '-t', tsa, '-o', path, fixture('pe/hello.exe')];
    const run = await runCli(place === 'option' ? [...args, '--proxy', address] : args, {
      env: place === 'option' ? env() : { ...env(), HTTPS_PROXY: address, http_proxy: address },
    });
    expect(run).toMatchObject({ code: 0 });
    expect(parseJson(run).files).toMatchObject([{ status: 'signed', reported: true, timestampAuthority: tsa }]);
    const service = new URL(env().CODESIGN_BASE_URL).host;
    expect(new Set(proxy.asked)).toEqual(new Set([`CONNECT ${service}`, `POST ${tsa}`]));
    expect(run.stdout + run.stderr).not.toMatch(/hunter2|dXNlcjpodW50ZXIy/);
    expect(server.log()).not.toMatch(/hunter2|dXNlcjpodW50ZXIy/);
  });

  it('rejects files that only a SOCKS proxy leads to before anything is sent, and no others', async () => {
    const socks = { ALL_PROXY: 'socks5://user:hunter2@127.0.0.1:1' };
    const before = server.operations('sign').length;
    const sign = (more: Readonly<Record<string, string>>, ...args: readonly string[]) =>
      runCli(['sign', '--json', ...args, '-o', folder.at('app.exe'), fixture('pe/hello.exe')], {
        env: { ...server.env, ...more },
      });
    const service = { ...socks, CODESIGN_BASE_URL: env().CODESIGN_BASE_URL };
    for (const run of [
      await sign(service, '--no-timestamp', '--dry-run'),
      await sign(socks, '-t', 'http://tsa.test:1/'),
    ]) {
      expect(run.code).toBe(2);
      const [message, hint] = ['ALL_PROXY', 'SOCKS'].map((word) => expect.stringContaining(word));
      expect(parseJson(run).error).toMatchObject({ code: 'proxy-invalid', message, hint });
      expect(run.stdout + run.stderr).not.toContain('hunter2');
    }
    expect(server.operations('sign')).toHaveLength(before);
    expect(await sign(socks, '--no-timestamp')).toMatchObject({ code: 0 });
  });

  it('ignores an unusable proxy if no request is sent', async () => {
    const more = { HTTPS_PROXY: 'socks5://127.0.0.1:1' };
    expect((await runCli(['verify', '--integrity-only', fixture('pe/hello.exe')], { env: more })).code).toBe(8);
    expect(await runCli(['resume', '--dry-run'], { env: { ...env(), ...more } })).toMatchObject({ code: 0 });
    const run = await runCli(['sign', '--dry-run', fixture('pe/hello.exe')], { env: { ...env(), ...more } });
    expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining('HTTPS_PROXY') });
  });
});

it('timestamp reaches its authority through the proxy', async () => {
  await using proxy = await startProxy();
  const path = folder.at('app.exe');
  await runCli(['sign', '-o', path, fixture('pe/hello.exe')], { env: server.env });
  const tsa = named(authority.urlOf('ok'), 'tsa.test');
  const run = await runCli(['timestamp', '-t', tsa, '--proxy', proxy.url, path]);
  expect(run).toMatchObject({ code: 0 });
  expect(proxy.asked).toEqual([`POST ${tsa}`]);
});

it('whoami --check asks the service through the proxy', async () => {
  await using proxy = await startProxy();
  const run = await runCli(['whoami', '--check', '--json', '--proxy', proxy.url], { env: env() });
  expect(run).toMatchObject({ code: 0 });
  expect(JSON.parse(run.stdout).check).toMatchObject({ serviceCode: 400 });
  expect(proxy.asked).toHaveLength(1);
});

it('verify --check-revocation asks through the proxy, and none for loopback', async () => {
  await using proxy = await startProxy();
  const issuer = make({ subject: 'Issuer' });
  const extensions = [
    ...SIGNER,
    'crlDistributionPoints=URI:http://crl.test:1/list.crl,URI:http://127.0.0.1:1/list.crl',
  ];
  const leaf = make({ subject: 'Publisher', issuer, extensions, key: testKey('rsa-2048').privateKey });
  const [chain, roots, path] = [folder.at('chain.pem'), folder.at('roots.pem'), folder.at('app.exe')];
  await writeFile(chain, leaf.pem);
  await writeFile(roots, issuer.pem);
  const service = await startMisbehavingService('good', { key: leaf.key, plain: true });
  onTestFinished(() => service.stop());
  const more = { CODESIGN_BASE_URL: service.baseUrl, CODESIGN_CERTIFICATE: chain };
  const signed = await runCli(['sign', '-o', path, fixture('pe/hello.exe')], { env: { ...server.env, ...more } });
  expect(signed).toMatchObject({ code: 0 });
  await runCli(['verify', '--roots', roots, '--check-revocation', '--proxy', proxy.url, path]);
  expect(proxy.asked).toEqual(['GET http://crl.test:1/list.crl']);
  const socks = await runCli(['verify', '--roots', roots, '--check-revocation', path], {
    env: { ALL_PROXY: 'socks5://127.0.0.1:1' },
  });
  expect(socks).toMatchObject({ code: 2, stderr: expect.stringContaining('ALL_PROXY') });
});
