/** Selects the proxy of a request. Requests to this machine never use a proxy. */

import { isIP, isIPv4 } from 'node:net';
import type { Secret } from '../secrets/secret.ts';

export interface HttpProxy {
  /** Scheme, host and port. User information is removed, because messages show the URL. */
  readonly url: URL;
  /** Value of Proxy-Authorization, which is sent only to the proxy. */
  readonly authorization: Secret | undefined;
}

/** A proxy that is configured but unusable. A request that needs the proxy fails, and does not silently bypass it. */
export interface UnusableProxy {
  readonly refusal: Error;
}

export interface ProxyException {
  /** In lower case, without a leading dot and without the brackets of an IPv6 address. */
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
 * Reads NO_PROXY like curl: names separated by commas or spaces, each with all its subdomains, with or without a
 * leading dot or `*.`. A port limits an entry to this port, and `*` alone means everything. Address ranges are not
 * supported and match nothing.
 */
export function readExceptions(text: string): Proxies['exceptions'] {
  const entries = text
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '');
  if (entries.includes('*')) return 'everything';
  return entries.map((entry) => {
    const [, bracketed, name, port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(entry) ?? [];
    // An IPv6 address without brackets contains colons, and cannot have a port.
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
 * Only for a URL that certainly leads to this machine may `http:` carry credentials. Uses the host from the URL parser,
 * never the text itself. The parser turns `127.1` and `0x7f000001` into 127.0.0.1, but leaves `127.0.0.1.example.com`
 * and `localhost@example.com` as other hosts.
 */
export function isLoopback(url: URL): boolean {
  const host = url.hostname;
  return host === 'localhost' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'));
}
