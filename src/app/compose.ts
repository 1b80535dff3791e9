/** The one place where all is wired: Settings in, a Signing that works out. */

import { createHash } from 'node:crypto';
import { arch, hostname, platform } from 'node:os';
import { performance } from 'node:perf_hooks';
import { checkProgramInfo } from '../authenticode/program-info.ts';
import { dateOf } from '../certificates/judge-leaf.ts';
import { readSigningChain } from '../certificates/read-signing-chain.ts';
import type { SigningChain } from '../certificates/signing-chain.ts';
import { describeFile } from '../formats/recognise.ts';
import { formats } from '../formats/registry.ts';
import { createHttp } from '../http/http.ts';
import { loadRoots, type TrustRoots } from '../http/roots.ts';
import { tlsChecksDisabled } from '../http/tls-checks.ts';
import { createSigningService } from '../service/client.ts';
import type { SigningService } from '../service/signing-service.ts';
import { readCertificateFiles } from '../settings/certificate-files.ts';
import { hasCredentials } from '../settings/credentials.ts';
import type { Environment } from '../settings/options.ts';
import type { Settings } from '../settings/settings.ts';
import type { TimestampSettings } from '../settings/timestamp-settings.ts';
import type { FileToSign, SignFilesResult, SigningEvent } from '../signing/outcome.ts';
import { signFiles } from '../signing/sign-files.ts';
import type { Signing } from '../signing/signing.ts';
import { withoutJournal } from '../signing/without-journal.ts';
import type { TimestampAuthorities } from '../timestamp/authorities.ts';
import { digestEntries } from '../zip/entry-digests.ts';
import { composeCallRecords } from './compose-call-records.ts';
import { composeCredentials } from './compose-credentials.ts';
import { composeJournal } from './compose-journal.ts';
import { composeTemporaryFiles, removeNow } from './compose-temporary-files.ts';
import { composeTimestamps } from './compose-timestamps.ts';
import { REVISION, VERSION } from './version.ts';

const WITHOUT_JOURNAL =
  'Without a journal a signature that is given and cannot be used at once is lost: another run asks, and pays, for it again.';

export interface SigningComposition extends AsyncDisposable {
  /** Whole sentences on certificate, credentials and TLS. */
  readonly warnings: readonly string[];
  /** The result's warnings begin with these. */
  signFiles(files: readonly FileToSign[], signal?: AbortSignal): Promise<SignFilesResult>;
  /** At once, for a process that is about to end with files under way. */
  removeTemporaryFiles(): void;
}

/** Reads the certificate and the credentials; throws what makes every file of a run impossible to sign. */
export async function composeSigning(
  settings: Settings,
  env: Environment,
  onEvent: (event: SigningEvent) => void,
): Promise<SigningComposition> {
  const now = (): Date => new Date();
  const temporaryFiles = new Set<string>();
  const certificate = await readCertificateFiles(settings.certificates, env);
  const chain = await readSigningChain(certificate.files, { now: now(), password: certificate.password });
  checkProgramInfo(settings);
  const connection = await (settings.dryRun ? checkConnection(settings, env) : connect(settings, env, onEvent));
  const journal = settings.dryRun || !settings.journal ? undefined : await composeJournal(env);
  const signing: Signing = {
    ...settings,
    timestampAlgorithm: settings.timestamps.urls.length > 0 ? settings.timestamps.algorithm : undefined,
    formats,
    chain,
    service: connection.service,
    authorities: connection.authorities,
    origin: settings.baseUrl?.origin ?? '',
    claims: journal ?? withoutJournal,
    client: {
      id: clientIdOf(connection.accessKey ?? ''),
      policy: settings.extra,
      mask: settings.maskFilename,
      platform: `${platform()} ${arch()}`,
      version: VERSION,
      revision: REVISION,
      hostname: hostname(),
    },
    digestEntries,
    describe: describeFile,
    clock: () => performance.now(),
    now,
    ...(await composeTemporaryFiles()),
    temporaryFiles,
    onEvent,
  };
  const warnings = [
    ...certificate.warnings,
    ...chain.warnings,
    ...connection.warnings,
    ...aboutTimestamps(settings.timestamps, chain),
    ...(settings.journal ? [] : [WITHOUT_JOURNAL]),
  ];
  let isComplete = false;
  return {
    warnings,
    async signFiles(files, signal) {
      const result = await signFiles(files, signing, signal);
      isComplete = result.files.every(({ status }) => status === 'signed' || status === 'skipped');
      return {
        ...result,
        warnings: [...warnings, ...result.warnings, ...(journal?.warnings ?? []), ...connection.later],
      };
    },
    removeTemporaryFiles: () => removeNow(temporaryFiles),
    async [Symbol.asyncDispose]() {
      await connection.service?.close();
      // The last of all: whoever kills it before that, its result still unprinted, may run the same again for nothing.
      if (isComplete) await journal?.ended().catch(() => undefined);
    },
  };
}

/** How the journal knows whose calls they are, without the access key. */
export function clientIdOf(accessKey: string): string {
  return createHash('sha256').update(accessKey).digest('hex');
}

interface Connection {
  /** Undefined in a dry run. */
  readonly service: SigningService | undefined;
  readonly accessKey?: string | undefined;
  readonly authorities?: TimestampAuthorities | undefined;
  readonly warnings: readonly string[];
  /** Grows as things are found. */
  readonly later: readonly string[];
}

/** No request yet: only what must be right before one. */
async function connect(
  settings: Settings,
  env: Environment,
  onEvent: (event: SigningEvent) => void,
): Promise<Connection> {
  const { baseUrl, concurrency, profile, timeoutMilliseconds, proxies } = settings;
  if (baseUrl === undefined) throw new Error('settings for a run that calls the service have its address');
  const credentials = await composeCredentials(env, profile, baseUrl.origin);
  const roots = await readRoots(settings, env);
  const { onCall, warnings: later } = composeCallRecords(settings.auditLog, onEvent);
  // A report runs beside the signatures and must not wait for one of their connections.
  const http = createHttp({
    roots,
    userAgent: `codesign-remote/${VERSION}`,
    connections: concurrency * 2,
    proxies: proxies(),
  });
  http.warmUp();
  const service = createSigningService({ baseUrl, credentials, http, timeoutMilliseconds, concurrency, onCall });
  const authorities = composeTimestamps(settings, http);
  return { service, authorities, accessKey: credentials.accessKey, warnings: credentials.warnings, later };
}

/** What happens to a signature without a timestamp is learned too late, and by the users of the file. */
function aboutTimestamps({ urls, isDeclined }: TimestampSettings, { notAfter }: SigningChain): readonly string[] {
  if (urls.length > 0 || isDeclined) return [];
  return [
    `The signatures get no timestamp, so they end with the certificate, on ${dateOf(notAfter)}: name an authority with --timestamp-url, or say --no-timestamp.`,
  ];
}

/** A dry run needs no credentials, and asks no keychain for them; but what is given must be right, or the real run will fail. */
async function checkConnection(settings: Settings, env: Environment): Promise<Connection> {
  await readRoots(settings, env);
  settings.proxies();
  if (!hasCredentials(env)) return { service: undefined, warnings: [], later: [] };
  const { warnings } = await composeCredentials(env, settings.profile, settings.baseUrl?.origin);
  return { service: undefined, warnings, later: [] };
}

function readRoots({ caFile }: Settings, env: Environment): Promise<TrustRoots> {
  const checksDisabled = tlsChecksDisabled(env);
  if (checksDisabled) throw checksDisabled;
  return loadRoots({ caFile, environment: env });
}
