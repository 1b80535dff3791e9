/** Requests to this machine never use a proxy. */

import { isIP, isIPv4 } from 'node:net';
import type { Secret } from '../secrets/secret.ts';

export interface HttpProxy {
  /** Scheme, host and port. The user name and the password are removed from the URL, because messages show it. */
  readonly url: URL;
  /** Value of the Proxy-Authorization header, which is sent only to the proxy. */
  readonly authorization: Secret | undefined;
}

/**
 * A proxy that is configured but cannot be used. A request that needs this proxy fails instead of silently bypassing
 * it.
 */
export interface UnusableProxy {
  readonly refusal: Error;
}

export interface ProxyException {
  /** A host name in lower case, without a leading dot; an IPv6 address has no brackets. */
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
 * Reads NO_PROXY like curl: names are separated by commas or spaces. A name covers all its subdomains, with or without
 * a leading dot or `*.`. An entry with a port applies only to that port, and `*` alone matches every host. Address
 * ranges are not supported, so such an entry matches nothing.
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
 * `http:` may carry credentials only if the URL certainly leads to this machine. Uses the host that the URL parser
 * returns, never the text of the URL. The parser converts `127.1` and `0x7f000001` to 127.0.0.1. The parser does not
 * convert `127.0.0.1.example.com` and `localhost@example.com`.
 */
export function isLoopback(url: URL): boolean {
  const host = url.hostname;
  return host === 'localhost' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'));
}
