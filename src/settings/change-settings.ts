/** What the commands are told that change files without the signing service. */

import { settingsErrors } from './errors.ts';
import type { Environment, TimestampOptions } from './options.ts';
import { resolveTimestampSettings, type TimestampSettings } from './timestamp-settings.ts';
import { either, nonEmpty, readConcurrency, readTimeout } from './values.ts';

export interface TimestampingOptions extends TimestampOptions {
  readonly force?: boolean | undefined;
  readonly concurrency?: string | number | undefined;
  /** In seconds. */
  readonly timeout?: string | number | undefined;
  readonly caFile?: string | undefined;
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
}

/** Throws `invalid-setting`, `setting-missing`, all of category usage. */
export function resolveTimestampingSettings(options: TimestampingOptions, env: Environment): TimestampingSettings {
  const timestamps = resolveTimestampSettings(options, env, 'SHA256');
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
    concurrency: readConcurrency(options.concurrency, env),
    timeoutMilliseconds: readTimeout(options.timeout, env),
    caFile: either(options.caFile, '--ca-file', env, 'CODESIGN_CA_FILE')?.value,
  };
}

/** Throws `invalid-setting`. */
export function readOutput(output: string | undefined): string | undefined {
  return nonEmpty(output, '--output');
}
