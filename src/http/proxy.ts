import { isIP, isIPv4 } from 'node:net';
import type { Secret } from '../secrets/secret.ts';

export interface HttpProxy {
  /** The URL contains no user name and no password, because messages show it. */
  readonly url: URL;
  /** Value of the Proxy-Authorization header. */
  readonly authorization: Secret | undefined;
}

/** If a proxy cannot be used, requests that need the proxy fail. They never bypass it silently. */
export interface UnusableProxy {
  readonly refusal: Error;
}

export interface ProxyException {
  /** Host name in lower case without a leading dot, or IPv6 address without brackets. */
  readonly host: string;
  readonly port: string | undefined;
}

export interface Proxies {
  readonly https: HttpProxy | UnusableProxy | undefined;
  readonly http: HttpProxy | UnusableProxy | undefined;
  readonly exceptions: readonly ProxyException[] | 'everything';
}

export const NO_PROXIES: Proxies = { https: undefined, http: undefined, exceptions: [] };

/**
 * Reads NO_PROXY like curl: commas or spaces separate names, a name covers its subdomains, and `*` alone covers every
 * host. Address ranges are not supported.
 */
export function readExceptions(text: string): Proxies['exceptions'] {
  const entries = text
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '');
  if (entries.includes('*')) return 'everything';
  return entries.map((entry) => {
    const [, bracketed, name, port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(entry) ?? [];
    // An IPv6 address without brackets contains colons, so no port can follow it.
    const host = bracketed ?? name ?? entry;
    return { host: host.replace(/^\*?\.+/, '').replace(/\.$/, ''), port };
  });
}

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
 * `http:` may carry credentials only to this machine, and requests to it use no proxy. The host of a parsed URL is
 * reliable: the parser converts `127.1` to 127.0.0.1, and removes the user name of `localhost@example.com`.
 */
export function isLoopback(url: URL): boolean {
  const host = url.hostname;
  return host === 'localhost' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'));
}
