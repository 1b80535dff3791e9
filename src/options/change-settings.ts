/** What the commands are told that change files without the signing service. */

import type { Proxies } from '../http/proxy.ts';
import { settingsErrors } from './errors.ts';
import { lookUp, NOTHING_STORED, type Stored } from './lookup.ts';
import type { Environment, ProfileOptions, TimestampOptions } from './options.ts';
import { resolveProxies } from './proxy-settings.ts';
import { resolveTimestampSettings, type TimestampSettings } from './timestamp-settings.ts';
import { given, readConcurrency, readText, readTimeout } from './values.ts';

export interface TimestampingOptions extends TimestampOptions, ProfileOptions {
  readonly force?: boolean | undefined;
  readonly concurrency?: string | number | undefined;
  /** In seconds. */
  readonly timeout?: string | number | undefined;
  readonly caFile?: string | undefined;
  readonly proxy?: string | undefined;
}

export interface TimestampingSettings {
  /** With one authority at least. */
  readonly timestamps: TimestampSettings;
  /** Whether timestamps that are there are replaced. */
  readonly force: boolean;
  readonly concurrency: number;
  /** For one attempt of one request. */
  readonly timeoutMilliseconds: number;
  /** Path of a PEM file with further TLS roots. */
  readonly caFile: string | undefined;
  /** Asked for where somebody is to be called. Throws `proxy-invalid`, `proxy-holds-credentials`. */
  readonly proxies: () => Proxies;
}

/** Throws `invalid-setting`, `setting-missing`, all of category usage. */
export function resolveTimestampingSettings(
  options: TimestampingOptions,
  env: Environment,
  stored: Stored = NOTHING_STORED,
): TimestampingSettings {
  const look = lookUp(options, env, stored);
  const timestamps = resolveTimestampSettings(options, look, 'SHA256');
  if (timestamps.urls.length === 0) {
    throw settingsErrors('setting-missing', {
      option: '--timestamp-url',
      variable: 'CODESIGN_TIMESTAMP_URL',
      what: 'the address of a time stamp authority',
    });
  }
  return {
    timestamps,
    force: options.force ?? false,
    concurrency: readConcurrency(look.one('concurrency')),
    timeoutMilliseconds: readTimeout(look.one('timeout')),
    caFile: look.one('caFile')?.value,
    proxies: () => resolveProxies(look, env),
  };
}

/** Throws `invalid-setting`. */
export function readOutput(output: string | undefined): string | undefined {
  const from = given(output, '--output');
  return from && readText(from);
}
