import type { TimestampingSettings } from '../options/commands/timestamp.ts';
import type { Environment } from '../options/options.ts';
import type { Timestamping } from '../signing/changes/timestamp.ts';
import type { SigningEvent } from '../signing/outcome.ts';
import { composeHttp, composeTimestamps, readTimestampRoots } from './compose-connection.ts';
import { type OpenedRun, openRun } from './compose-local.ts';

type OnEvent = (event: SigningEvent) => void;

/** Number of concurrent files where none of them waits for an answer. */
const LOCAL_CONCURRENCY = 4;

export interface OpenedTimestamping extends OpenedRun, Timestamping, AsyncDisposable {}

/** Sends nothing. Throws what makes every request impossible: roots that cannot be read, TLS checks switched off. */
export async function openTimestamping(
  settings: TimestampingSettings,
  env: Environment,
  onEvent: OnEvent,
): Promise<OpenedTimestamping> {
  const { concurrency, force, timestamps } = settings;
  const http = await composeHttp(settings, env, concurrency);
  const authorities = composeTimestamps(settings, http, await readTimestampRoots(timestamps), onEvent);
  if (authorities === undefined) throw new Error('settings for timestamping have an authority');
  const opened = await openRun(concurrency, onEvent);
  return { ...opened, authorities, algorithm: timestamps.algorithm, force, [Symbol.asyncDispose]: () => http.close() };
}

/** For changes that call no service and no authority. */
export function openLocalRun(onEvent: OnEvent): Promise<OpenedRun> {
  return openRun(LOCAL_CONCURRENCY, onEvent);
}
