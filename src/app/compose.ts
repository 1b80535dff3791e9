/** The one place where all is wired: Settings in, a Signing that works out. */

import { arch, hostname, platform } from 'node:os';
import { checkProgramInfo, programInfo } from '../authenticode/program-info.ts';
import { dateOf, readSigningChain, type SigningChain } from '../certificates/signing-chain.ts';
import { formats } from '../formats/registry.ts';
import type { TimestampSettings } from '../options/commands/common.ts';
import type { Settings } from '../options/commands/sign.ts';
import { readCertificateFiles } from '../options/credentials/certificate-files.ts';
import { hasCredentials } from '../options/credentials/credentials.ts';
import type { Environment } from '../options/options.ts';
import type { SigningService } from '../service/signing-service.ts';
import type { FileToSign, SignFilesResult, SigningEvent } from '../signing/outcome.ts';
import { withoutJournal } from '../signing/service/without-journal.ts';
import { signFiles } from '../signing/sign-files.ts';
import type { Signing } from '../signing/signing.ts';
import type { TimestampAuthorities } from '../timestamp/authorities.ts';
import { clock } from './clock.ts';
import { composeCredentials } from './compose-credentials.ts';
import { composeDigestEntries } from './compose-digests.ts';
import { checkWays, readTlsRoots } from './compose-http.ts';
import { composeJournal } from './compose-journal.ts';
import { composeService } from './compose-service.ts';
import { composeTemporaryFiles, removeNow } from './compose-temporary-files.ts';
import { composeTimestamps, readTimestampRoots } from './compose-timestamps.ts';
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
  /** Notes in the journal that the run ended well. Only for the last action of a run in which no file failed; never throws. */
  noteEnd(): void;
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
  checkProgramInfo(programInfo(settings.formatOptions));
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
      id: connection.client ?? '',
      policy: settings.extra,
      mask: settings.maskFilename,
      platform: `${platform()} ${arch()}`,
      version: VERSION,
      revision: REVISION,
      hostname: hostname(),
    },
    digestEntries: composeDigestEntries(),
    clock,
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
  // From here on whoever has the composition closes the connection.
  connection.prepare?.();
  return {
    warnings,
    async signFiles(files, signal) {
      const result = await signFiles(files, signing, signal);
      return {
        ...result,
        warnings: [...warnings, ...result.warnings, ...(journal?.warnings ?? []), ...connection.later],
      };
    },
    removeTemporaryFiles: () => removeNow(temporaryFiles),
    noteEnd: () => journal?.ended(),
    async [Symbol.asyncDispose]() {
      await connection.service?.close();
    },
  };
}

interface Connection {
  /** Undefined in a dry run. */
  readonly service: SigningService | undefined;
  readonly client?: string;
  /** Opens the connection to the service ahead of need. */
  readonly prepare?: () => void;
  readonly authorities?: TimestampAuthorities | undefined;
  readonly warnings: readonly string[];
  /** Grows as things are found. */
  readonly later: readonly string[];
}

async function connect(
  settings: Settings,
  env: Environment,
  onEvent: (event: SigningEvent) => void,
): Promise<Connection> {
  const { baseUrl } = settings;
  if (baseUrl === undefined) throw new Error('settings for a run that calls the service have its address');
  const roots = await readTimestampRoots(settings.timestamps);
  const connection = await composeService(baseUrl, settings, env, onEvent);
  const prepare = (): void => connection.http.prepare(baseUrl);
  return { ...connection, prepare, authorities: composeTimestamps(settings, connection.http, roots) };
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
  await readTlsRoots(settings, env);
  await readTimestampRoots(settings.timestamps);
  checkWays(settings, [...(settings.baseUrl ? [settings.baseUrl] : []), ...settings.timestamps.urls]);
  if (!hasCredentials(env)) return { service: undefined, warnings: [], later: [] };
  const { warnings } = await composeCredentials(env, settings.profile, settings.baseUrl?.origin);
  return { service: undefined, warnings, later: [] };
}
