import { missingSettings, type Resolved, resolveTimestamps } from '../options/resolve.ts';
import { type Environment, OPTIONS } from '../options/table.ts';
import type { Timestamping } from '../signing/changes/timestamp.ts';
import type { SigningEvent } from '../signing/outcome.ts';
import type { Run } from '../signing/run.ts';
import { composeHttp, composeTimestamps, readTimestampRoots } from './compose-connection.ts';
import { type OpenedRun, openRun } from './compose-local.ts';

export interface OpenedTimestamping extends OpenedRun, Timestamping, AsyncDisposable {}

export async function openTimestamping(
  settings: Resolved<'timestamp'> & Pick<Partial<Run>, 'fileDigests'>,
  env: Environment,
  onEvent: (event: SigningEvent) => void,
): Promise<OpenedTimestamping> {
  const { look, concurrency, force } = settings;
  const timestamps = resolveTimestamps(look, OPTIONS.timestampAlgorithm.in.timestamp.default, env);
  const http = await composeHttp(settings, env, concurrency);
  const opened = await openRun(onEvent, settings);
  const roots = await readTimestampRoots(timestamps);
  const authorities = composeTimestamps(settings, timestamps, http, roots, opened.run.onEvent);
  if (authorities === undefined) throw missingSettings(['timestampUrl'], env);
  return { ...opened, authorities, algorithm: timestamps.algorithm, force, [Symbol.asyncDispose]: () => http.close() };
}
