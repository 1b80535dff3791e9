/** Time stamp authorities as the settings name them. */

import { randomBytes } from 'node:crypto';
import type { Http } from '../http/http.ts';
import type { Proxies } from '../http/proxy.ts';
import type { TimestampSettings } from '../options/commands/common.ts';
import { createTimestampAuthorities, type TimestampAuthorities } from '../timestamp/authorities.ts';
import { loadTrustRoots, type TrustRoots } from '../verifying/roots.ts';
import { checkWays } from './compose-http.ts';

export interface TimestampComposition {
  readonly timestamps: TimestampSettings;
  /** For one attempt of one request. */
  readonly timeoutMilliseconds: number;
  readonly proxies: () => Proxies;
}

/** Undefined when none is named. Throws `proxy-invalid`. `roots`: as `readTimestampRoots` gives them. */
export function composeTimestamps(
  { timestamps, timeoutMilliseconds, proxies }: TimestampComposition,
  http: Http,
  roots: TrustRoots | undefined,
): TimestampAuthorities | undefined {
  const { urls, algorithm, policy } = timestamps;
  if (urls.length === 0) return undefined;
  checkWays({ proxies }, urls);
  return createTimestampAuthorities({
    urls,
    algorithm,
    policy,
    roots,
    http,
    timeoutMilliseconds,
    now: () => new Date(),
    randomBytes: (length) => randomBytes(length),
  });
}

/** Undefined where any chain is accepted, or no timestamp is wanted. Throws `roots-unreadable`, `roots-unusable`. */
export async function readTimestampRoots({ urls, roots }: TimestampSettings): Promise<TrustRoots | undefined> {
  if (roots === undefined || urls.length === 0) return undefined;
  return loadTrustRoots({ file: roots, option: '--timestamp-roots', environment: {} });
}
