import { lookUp, type Stored } from '../lookup.ts';
import type { Environment } from '../options.ts';
import { OPTIONS, type OptionsOf } from '../table.ts';
import { missingSettings, resolveRequests, resolveTimestamps } from './common.ts';

export type TimestampingSettings = ReturnType<typeof resolveTimestampingSettings>;

/** With at least one authority. Throws `invalid-setting`, `setting-missing`, both of category usage. */
export function resolveTimestampingSettings(options: OptionsOf<'timestamp'>, env: Environment, stored: Stored) {
  const look = lookUp(options, env, stored);
  const timestamps = resolveTimestamps(look, OPTIONS.timestampAlgorithm.in.timestamp.default, env);
  if (timestamps.urls.length === 0) throw missingSettings(['timestampUrl'], env);
  return {
    ...resolveRequests(look, env),
    timestamps,
    force: look.read('force'),
    concurrency: look.read('concurrency'),
  };
}
