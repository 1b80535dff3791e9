/** What names a proxy. */

import type { HttpProxy } from '../http/proxy.ts';
import { Secret } from '../secrets/secret.ts';
import { settingsErrors } from './errors.ts';
import type { Given } from './values.ts';

/** Where everybody may read it there are no credentials. Throws `proxy-invalid`, `proxy-holds-credentials`. */
export function readProxy(from: Given): HttpProxy {
  const { url, authorization } = readProxyVariable(from);
  if (authorization !== undefined) throw settingsErrors('proxy-holds-credentials', { name: from.name });
  return { url, authorization };
}

/** `host:port` means `http:`, as everywhere. The text is in no message: it may hold a password. */
export function readProxyVariable({ value, name }: Given): HttpProxy {
  const text = value.includes('://') ? value : `http://${value}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw settingsErrors('proxy-invalid', { name });
  }
  return { url: new URL(url.origin), authorization: authorizationOf(url, name) };
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
