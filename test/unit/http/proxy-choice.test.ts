/** Which requests go through a proxy: by option, environment and profile, and by NO_PROXY. */

import { describe, expect, test } from 'vitest';
import { isUsable, proxyFor, readExceptions } from '../../../src/http/proxy.ts';
import { lookUp, NOTHING_STORED } from '../../../src/options/lookup.ts';
import { resolveProxies } from '../../../src/options/resolve.ts';
import type { Environment } from '../../../src/options/table.ts';

const SECURE = new URL('https://sign.example.com/api');
const PLAIN = new URL('http://tsa.example.com');

function resolve(env: Environment, option?: string, profile?: string) {
  const values = new Map(profile === undefined ? [] : [['proxy', [profile]] as const]);
  const stored = { ...NOTHING_STORED, profile: { ...NOTHING_STORED.profile, values } };
  return resolveProxies(lookUp({ proxy: option }, env, stored), env);
}

type Address = string | undefined;

const chosen = (url: URL, env: Environment, option?: string, profile?: string) =>
  proxyFor(url, resolve(env, option, profile))?.url.origin;

describe('the proxy', () => {
  const BOTH = { HTTPS_PROXY: 'http://secure:3128', HTTP_PROXY: 'http://plain:3128/' };
  const ALL = { HTTPS_PROXY: 'http://secure:1', ALL_PROXY: 'http://all:1' };
  const LOWER = { https_proxy: 'http://lower:1', HTTPS_PROXY: 'http://upper:1' };
  const [OPTION, PROFILE, NONE] = ['http://option:1', 'http://profile:1', undefined];

  test.each<[string, Environment, option: Address, profile: Address, secure: Address, plain: Address]>([
    ['of each scheme', BOTH, NONE, NONE, 'http://secure:3128', 'http://plain:3128'],
    ['of http: alone', { HTTP_PROXY: 'http://plain:1' }, NONE, NONE, NONE, 'http://plain:1'],
    ['of https: alone', { HTTPS_PROXY: 'http://secure:1' }, NONE, NONE, 'http://secure:1', NONE],
    ['of the option first', { HTTPS_PROXY: 'http://environment:1' }, OPTION, PROFILE, OPTION, OPTION],
    ['of the profile last', { HTTPS_PROXY: 'http://environment:1' }, NONE, PROFILE, 'http://environment:1', PROFILE],
    ['of a variable in lower case', LOWER, NONE, NONE, 'http://lower:1', NONE],
    ['not of an empty variable', { ...LOWER, https_proxy: '' }, NONE, NONE, 'http://upper:1', NONE],
    ['of none, if the only variable is empty', { HTTPS_PROXY: '' }, NONE, NONE, NONE, NONE],
    ['of ALL_PROXY for a scheme without one', ALL, NONE, NONE, 'http://secure:1', 'http://all:1'],
    [
      'of all_proxy',
      { all_proxy: 'lower:1', ALL_PROXY: 'http://upper:1' },
      NONE,
      NONE,
      'http://lower:1',
      'http://lower:1',
    ],
    ['of ALL_PROXY before the profile', { ALL_PROXY: 'http://all:1' }, NONE, PROFILE, 'http://all:1', 'http://all:1'],
  ])('is that %s', (_what, env, option, profile, secure, plain) => {
    expect([chosen(SECURE, env, option, profile), chosen(PLAIN, env, option, profile)]).toEqual([secure, plain]);
  });

  test.each(['socks5://user:hunter2@proxy:1080', 'socks5h://hunter2', 'http://', 'hunter2:proxy'])(
    'is rejected where only ALL_PROXY=%s would lead to it, and nowhere else',
    (address) => {
      const env = { ALL_PROXY: address };
      const message = expect.stringMatching(/^(?!.*hunter2).*ALL_PROXY/);
      const refused = expect.objectContaining({ category: 'usage', code: 'proxy-invalid', message });
      for (const url of [SECURE, PLAIN]) expect(() => chosen(url, env)).toThrow(refused);
      expect(chosen(SECURE, { ...env, https_proxy: 'http://secure:1' })).toBe('http://secure:1');
      expect(chosen(SECURE, env, 'http://option:1')).toBe('http://option:1');
      expect(chosen(SECURE, { ...env, no_proxy: 'example.com' })).toBeUndefined();
      expect(chosen(new URL('https://127.0.0.1:8443'), env)).toBeUndefined();
    },
  );

  const loopback = ['https://localhost', 'https://127.9.9.9:8443', 'http://[::1]:80', 'http://127.1'];
  test.each(loopback)('is none for %s', (address) => {
    expect(chosen(new URL(address), {}, 'http://proxy:3128')).toBeUndefined();
  });

  test('has its own credentials from the environment, decoded, and apart from what is shown', () => {
    const { https } = resolve({ HTTPS_PROXY: 'http://us%65r:p%40ss:w%C3%B6rd@proxy:3128' });
    if (https === undefined || !isUsable(https)) return expect.fail('it can be used');
    expect(https.url.href).toBe('http://proxy:3128/');
    expect(https.authorization?.reveal()).toBe(`Basic ${Buffer.from('user:p@ss:wörd').toString('base64')}`);
    expect(JSON.stringify(https)).not.toMatch(/rd|Basic/);
  });

  test.each<[string, Environment, string | undefined, string | undefined]>([
    ['--proxy', {}, 'http://user:hunter2@proxy:3128', undefined],
    ['proxy in profile', {}, undefined, 'http://user:hunter2@proxy:3128'],
  ])('%s takes no credentials', (name, env, option, profile) => {
    const message = expect.stringMatching(new RegExp(`^(?!.*hunter2).*${name}`));
    const refused = expect.objectContaining({ category: 'usage', code: 'proxy-holds-credentials', message });
    expect(() => resolve(env, option, profile)).toThrow(refused);
  });
});

describe('NO_PROXY', () => {
  test.each<[string, string, boolean]>([
    ['sign.example.com', 'https://sign.example.com', true],
    ['example.com', 'https://sign.example.com', true],
    ['.example.com', 'https://sign.example.com', true],
    ['*.example.com', 'https://sign.example.com', true],
    ['EXAMPLE.com', 'https://sign.Example.COM', true],
    ['example.com', 'https://example.com.', true],
    ['ample.com', 'https://example.com', false],
    ['sign.example.com', 'https://example.com', false],
    ['example.com:443', 'https://example.com', true],
    ['example.com:443', 'https://example.com:8443', false],
    ['*', 'https://example.com', true],
    ['2.3', 'https://10.1.2.3', false],
    ['10.0.0.0/8', 'https://10.1.2.3', false],
    ['[2001:db8::1]', 'https://[2001:db8::1]', true],
    ['2001:db8::1', 'https://[2001:db8::1]:8443', true],
    ['[2001:db8::1]:8443', 'https://[2001:db8::1]:8443', true],
    ['[2001:db8::1]:8443', 'https://[2001:db8::1]', false],
    [',. ,', 'https://example.com', false],
  ])('"%s" and %s: %s', (text, address, isExcepted) => {
    const { https } = resolve({}, 'http://proxy:3128');
    const proxies = { https, http: https, exceptions: readExceptions(text) };
    expect(proxyFor(new URL(address), proxies) === undefined).toBe(isExcepted);
  });

  test('holds for --proxy too', () => {
    expect(chosen(SECURE, { no_proxy: 'example.com', NO_PROXY: 'other.test' }, 'http://option:1')).toBeUndefined();
  });
});
