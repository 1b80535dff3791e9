/** Which proxy a request goes through: by the scheme of its address, unless it is excepted; never for this machine itself. */

import { isIP, isIPv4 } from 'node:net';
import type { Secret } from '../secrets/secret.ts';

export interface HttpProxy {
  /** Scheme, host and port: no user information, which would be shown. */
  readonly url: URL;
  /** For Proxy-Authorization: goes to the proxy alone. */
  readonly authorization: Secret | undefined;
}

/** A proxy that is set but cannot be used: a request that needs it fails, instead of silently going past it. */
export interface UnusableProxy {
  readonly refusal: Error;
}

/** A host and all below it, on one port or on all. */
export interface ProxyException {
  /** Lower case; without a leading dot, and without the brackets of an IPv6 address. */
  readonly host: string;
  readonly port: string | undefined;
}

export interface Proxies {
  /** For `https:` addresses. */
  readonly https: HttpProxy | UnusableProxy | undefined;
  /** For `http:` addresses. */
  readonly http: HttpProxy | UnusableProxy | undefined;
  readonly exceptions: readonly ProxyException[] | 'everything';
}

export const NO_PROXIES: Proxies = { https: undefined, http: undefined, exceptions: [] };

/**
 * NO_PROXY as curl reads it: names separated by commas or spaces, each with all its subdomains, with
 * or without a leading dot or `*.`; with a port for that port alone; `*` alone for everything. Ranges of addresses are
 * no names: they except nothing.
 */
export function readExceptions(text: string): Proxies['exceptions'] {
  const entries = text
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '');
  if (entries.includes('*')) return 'everything';
  return entries.map((entry) => {
    const [, bracketed, name, port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(entry) ?? [];
    // An IPv6 address without brackets has colons, and no port.
    const host = bracketed ?? name ?? entry;
    return { host: host.replace(/^\*?\.+/, '').replace(/\.$/, ''), port };
  });
}

/** Throws the `refusal` of a proxy that cannot be used. */
export function proxyFor(url: URL, { https, http, exceptions }: Proxies): HttpProxy | undefined {
  const proxy = url.protocol === 'https:' ? https : http;
  if (proxy === undefined || exceptions === 'everything' || isLoopback(url)) return undefined;
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  if (exceptions.some((exception) => covers(exception, host, port))) return undefined;
  if (isUsable(proxy)) return proxy;
  throw proxy.refusal;
}

export function isUsable(proxy: HttpProxy | UnusableProxy): proxy is HttpProxy {
  return 'url' in proxy;
}

function covers(exception: ProxyException, host: string, port: string): boolean {
  if (exception.port !== undefined && exception.port !== port) return false;
  if (exception.host === host) return true;
  return exception.host !== '' && isIP(host) === 0 && host.endsWith(`.${exception.host}`);
}

/**
 * Whether a URL leads to this machine only: the one case where `http:` is allowed to carry credentials. Looks at the host that the URL parser made of the text, never the text itself: `127.1` and `0x7f000001` are 127.0.0.1
 * there already, while `127.0.0.1.example.com` and `localhost@example.com` are what they are.
 */
export function isLoopback(url: URL): boolean {
  const host = url.hostname;
  return host === 'localhost' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'));
}
