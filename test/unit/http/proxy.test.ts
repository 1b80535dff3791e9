/** Requests through a real proxy: `https:` by CONNECT, `http:` by the absolute form. */

import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readProxyVariable } from '../../../src/options/values.ts';
import { startMisbehavingService } from '../../support/services/misbehaving-service.ts';
import { type ProxyManner, startProxy, type TestProxyOptions } from '../../support/services/proxy.ts';
import { ACCESS_SECRET, openServiceClient, SIGN_REQUEST } from '../../support/services/service-client.ts';
import { createTlsAuthority } from '../../support/services/tls-authority.ts';
import { openMisbehaving } from '../service/misbehaving-client.ts';

async function start(options: TestProxyOptions = {}) {
  const proxy = await startProxy(options);
  onTestFinished(async () => proxy[Symbol.asyncDispose]());
  return proxy;
}

function proxiesOf(address: string) {
  const proxy = readProxyVariable({ value: address, name: 'HTTPS_PROXY' });
  return { https: proxy, http: proxy, exceptions: [] };
}

async function openThrough(address: string, certificate: 'valid' | 'other-name' = 'valid', connectMilliseconds = 5000) {
  const proxies = proxiesOf(address);
  const options = { name: 'service.test', certificate };
  const opened = await openMisbehaving('good', options, { proxies, connectMilliseconds });
  return { ...opened, port: new URL(opened.misbehaving.baseUrl).port };
}

describe('https:', () => {
  test('uses one tunnel, which the calls share, and the proxy sees nothing of them', async () => {
    const proxy = await start();
    const { service, misbehaving, port } = await openThrough(proxy.url);
    for (let calls = 0; calls < 5; calls += 1) await service.sign(SIGN_REQUEST);
    expect(misbehaving.signRequests()).toBe(5);
    expect(misbehaving.requests()[0]?.headers.host).toBe(`service.test:${port}`);
    expect(proxy.asked).toEqual([`CONNECT service.test:${port}`]);
    expect(proxy.headers[0]).toEqual({ host: `service.test:${port}`, connection: expect.any(String) });
    expect(misbehaving.requests().some(({ headers }) => 'proxy-authorization' in headers)).toBe(false);
  });

  test('is verified through the tunnel: a certificate with the name of another machine is not taken', async () => {
    const proxy = await start();
    const { service, misbehaving } = await openThrough(proxy.url, 'other-name');
    await expect(service.sign(SIGN_REQUEST)).rejects.toMatchObject({ category: 'network', code: 'tls-untrusted' });
    expect(misbehaving.requests()).toHaveLength(0);
  });

  test('uses an https: proxy whose certificate is trusted, and no other', async () => {
    const authority = createTlsAuthority('Proxy Root');
    const proxy = await start({ identity: authority.issue({ names: ['127.0.0.1'] }) });
    const service = await startMisbehavingService('good', { name: 'service.test' });
    onTestFinished(() => service.stop());
    const both = `${service.caFile}.both`;
    await writeFile(both, (await readFile(service.caFile, 'utf8')) + authority.root);
    const sign = async (caFile: string) => {
      const opened = await openServiceClient({ baseUrl: service.baseUrl, caFile, proxies: proxiesOf(proxy.url) });
      onTestFinished(() => opened.service.close());
      return opened.service.sign(SIGN_REQUEST);
    };
    await expect(sign(both)).resolves.toMatchObject({ id: 'record-1' });
    await expect(sign(service.caFile)).rejects.toMatchObject({ category: 'network', code: 'proxy-unreachable' });
    expect(service.signRequests()).toBe(1);
  });

  test.each<[string, TestProxyOptions & { readonly manner?: ProxyManner }, string, number]>([
    ['asks for credentials', { credentials: 'a:b' }, 'proxy-unauthorized', 1],
    ['refuses', { manner: 'refuses' }, 'proxy-refused', 3],
    ['hangs', { manner: 'hangs' }, 'proxy-refused', 3],
    ['is none', { manner: 'talks-nonsense' }, 'proxy-refused', 3],
  ])('a proxy that %s: nothing was sent', async (_how, options, code, attempts) => {
    const proxy = await start(options);
    const patience = options.manner === 'hangs' ? 500 : undefined;
    const { service, misbehaving } = await openThrough(proxy.url, 'valid', patience);
    const failure = await service.sign(SIGN_REQUEST).catch((thrown: unknown) => thrown);
    expect(failure).toMatchObject({ category: 'network', code, hint: expect.stringMatching(/PROXY/) });
    expect(String(failure)).toContain(proxy.url);
    expect(String(failure)).toContain('nothing was sent');
    expect(proxy.asked).toHaveLength(attempts);
    expect(JSON.stringify(proxy.headers)).not.toContain('authorization"');
    expect(JSON.stringify(failure)).not.toContain(ACCESS_SECRET);
    expect(misbehaving.connections()).toBe(0);
  });
});
