/** The way to others: what TLS trusts, and which proxy is between. */

import { createHttp, type Http } from '../http/http.ts';
import { type Proxies, proxyFor } from '../http/proxy.ts';
import { loadRoots, type TrustRoots, tlsChecksDisabled } from '../http/roots.ts';
import type { Environment } from '../options/options.ts';
import { VERSION } from './version.ts';

export interface HttpSettings {
  /** Path of a PEM file with further TLS roots. */
  readonly caFile: string | undefined;
  /** Throws where what names them cannot be. */
  readonly proxies: () => Proxies;
}

/** No request yet, but what makes every one impossible. `connections`: to one origin. */
export async function composeHttp(settings: HttpSettings, env: Environment, connections?: number): Promise<Http> {
  const roots = await readTlsRoots(settings, env);
  const userAgent = `codesign-remote/${VERSION}`;
  const proxies = settings.proxies();
  return createHttp({ roots, userAgent, proxies, ...(connections !== undefined && { connections }) });
}

/** Before anything is sent to anybody. Throws `proxy-invalid` where one of them could only be reached through such a proxy. */
export function checkWays({ proxies }: Pick<HttpSettings, 'proxies'>, urls: readonly URL[]): void {
  const known = proxies();
  for (const url of urls) proxyFor(url, known);
}

/** Throws `tls-checks-disabled`, `ca-file-unreadable`, `ca-file-unusable`. */
export async function readTlsRoots({ caFile }: Pick<HttpSettings, 'caFile'>, env: Environment): Promise<TrustRoots> {
  const checksDisabled = tlsChecksDisabled(env);
  if (checksDisabled) throw checksDisabled;
  return loadRoots({ caFile, environment: env });
}
