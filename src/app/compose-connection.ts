import { randomBytes } from 'node:crypto';
import { fingerprintOf } from '../crypto/fingerprint.ts';
import { createHttp, type Http, LONGEST_TO_CONNECT_MILLISECONDS } from '../http/http.ts';
import { proxyFor } from '../http/proxy.ts';
import type { OnWait } from '../http/retry.ts';
import { loadRoots, type TrustRoots as TlsRoots, tlsChecksDisabled } from '../http/roots.ts';
import type { Credentials } from '../options/credentials/credentials.ts';
import type { Resolved, TimestampSettings } from '../options/resolve.ts';
import type { Environment } from '../options/table.ts';
import { type CallRecord, openAuditLog } from '../service/call-record.ts';
import { createSigningService } from '../service/client.ts';
import type { SigningEvent, WaitingToRetry } from '../signing/outcome.ts';
import { createTimestampAuthorities, type TimestampAuthorities } from '../timestamp/authorities.ts';
import { loadTrustRoots, type TrustRoots } from '../verifying/roots.ts';
import { VERSION } from './version.ts';

export type HttpSettings = Pick<Resolved<'timestamp'>, 'caFile' | 'proxies' | 'timeout'>;

/** Sends nothing. Throws if no request could succeed. `connections` is a limit per origin. */
export async function composeHttp(settings: HttpSettings, env: Environment, connections?: number): Promise<Http> {
  const roots = await readTlsRoots(settings, env);
  const userAgent = `codesign-remote/${VERSION}`;
  const proxies = settings.proxies();
  const connectMilliseconds = Math.min(settings.timeout, LONGEST_TO_CONNECT_MILLISECONDS);
  return createHttp({
    roots,
    userAgent,
    proxies,
    connectMilliseconds,
    ...(connections !== undefined && { connections }),
  });
}

export function checkProxies({ proxies }: Pick<HttpSettings, 'proxies'>, urls: readonly URL[]): void {
  const known = proxies();
  for (const url of urls) proxyFor(url, known);
}

export async function readTlsRoots({ caFile }: Pick<HttpSettings, 'caFile'>, env: Environment): Promise<TlsRoots> {
  const checksDisabled = tlsChecksDisabled(env);
  if (checksDisabled) throw checksDisabled;
  return loadRoots(caFile, env);
}

export function composeCallRecords(auditLog: string | undefined, onEvent: (event: SigningEvent) => void) {
  const log = auditLog === undefined ? undefined : openAuditLog(auditLog);
  return {
    onCall(record: CallRecord): void {
      log?.write(record);
      onEvent({ type: 'service-called', call: record });
    },
    warnings: log?.warnings ?? [],
  };
}

export type ServiceComposition = Awaited<ReturnType<typeof composeService>>;

export async function composeService(
  baseUrl: URL,
  credentials: Credentials,
  settings: HttpSettings & Pick<Resolved<'resume'>, 'concurrency' | 'auditLog'>,
  env: Environment,
  onEvent: (event: SigningEvent) => void,
) {
  const { concurrency, timeout, auditLog } = settings;
  checkProxies(settings, [baseUrl]);
  // The limit is twice the concurrency, because reports must not wait for signature requests.
  const http = await composeHttp(settings, env, concurrency * 2);
  const { onCall, warnings: later } = composeCallRecords(auditLog, onEvent);
  const service = createSigningService({
    baseUrl,
    credentials,
    http,
    timeoutMilliseconds: timeout,
    onCall,
    onWait: reportWaits(onEvent),
  });
  return {
    service,
    http,
    /** Identifies the client in the journal, which must not contain the access key. */
    client: fingerprintOf(credentials.accessKey),
    warnings: credentials.warnings,
    later,
  };
}

function reportWaits(onEvent: (event: WaitingToRetry) => void): OnWait {
  return (reason, wait) => onEvent({ type: 'waiting-to-retry', reason, ...wait });
}

export function composeTimestamps(
  { timeout, proxies }: Pick<HttpSettings, 'timeout' | 'proxies'>,
  { urls, algorithm, policy }: TimestampSettings,
  http: Http,
  roots: TrustRoots | undefined,
  onEvent: (event: WaitingToRetry) => void,
): TimestampAuthorities | undefined {
  if (urls.length === 0) return undefined;
  checkProxies({ proxies }, urls);
  return createTimestampAuthorities({
    urls,
    algorithm,
    policy,
    roots,
    http,
    timeoutMilliseconds: timeout,
    now: () => new Date(),
    randomBytes: (length) => randomBytes(length),
    onWait: reportWaits(onEvent),
  });
}

/** Returns undefined if timestamps are not checked against roots, or if no timestamp is requested. */
export async function readTimestampRoots({ urls, roots }: TimestampSettings): Promise<TrustRoots | undefined> {
  if (roots === undefined || urls.length === 0) return undefined;
  return loadTrustRoots({ files: [roots], option: '--timestamp-roots', environment: {} });
}
