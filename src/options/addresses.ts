/** Addresses of services, time stamp authorities and proxies. No message repeats an address: it may hold a password. */

import type { HttpProxy } from '../http/proxy.ts';
import { isLoopback } from '../http/proxy.ts';
import { Secret } from '../secrets/secret.ts';
import { settingsErrors } from './errors.ts';
import { type Given, refuse } from './values.ts';

/**
 * The service address with its path, without trailing slashes. `name` is what messages call the text (`--base-url`,
 * `CODESIGN_BASE_URL`). Throws `base-url-invalid`, `base-url-insecure` or `base-url-holds-credentials`.
 */
export function parseBaseUrl(text: string, name: string): URL {
  if (!URL.canParse(text)) throw settingsErrors('base-url-invalid', { name, problem: 'it is no URL' });
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') throw settingsErrors('base-url-holds-credentials', { name });
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw settingsErrors('base-url-invalid', { name, problem: 'it must begin with https://' });
  }
  // Looks at the text too: a bare "?" or "#" leaves no trace in the parsed address.
  if (/[?#]/.test(text)) throw settingsErrors('base-url-invalid', { name, problem: 'it has a query or a fragment' });
  if (url.protocol === 'http:' && !isLoopback(url)) throw settingsErrors('base-url-insecure', { name, host: url.host });
  url.pathname = url.pathname.replace(/\/+$/, '');
  return url;
}

/** Plain `http:` is what most authorities have: what they sign is checked, and nothing secret is sent. */
export function readTimestampUrl({ value, name }: Given): URL {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !isWeb(url)) {
    refuse({ value, name }, 'the address of a time stamp authority, such as http://timestamp.example.com');
  }
  if (url.username !== '' || url.password !== '') throw settingsErrors('timestamp-url-holds-credentials', { name });
  return url;
}

/** A proxy named where others can read it, so without credentials. Throws `proxy-invalid`, `proxy-holds-credentials`. */
export function readProxy(from: Given): HttpProxy {
  const { url, authorization } = readProxyVariable(from);
  if (authorization !== undefined) throw settingsErrors('proxy-holds-credentials', { name: from.name });
  return { url, authorization };
}

/** `host:port` means `http:`, as in other programs. Throws `proxy-invalid`. */
export function readProxyVariable({ value, name }: Given): HttpProxy {
  const text = value.includes('://') ? value : `http://${value}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !isWeb(url)) throw settingsErrors('proxy-invalid', { name });
  return { url: new URL(url.origin), authorization: authorizationOf(url, name) };
}

function isWeb({ protocol }: URL): boolean {
  return protocol === 'http:' || protocol === 'https:';
}

/** HTTP Basic (RFC 7617). */
function authorizationOf({ username, password }: URL, name: string): Secret | undefined {
  if (username === '' && password === '') return undefined;
  try {
    const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return new Secret(`Basic ${Buffer.from(pair, 'utf8').toString('base64')}`);
  } catch {
    throw settingsErrors('proxy-invalid', { name });
  }
}
