import { arch, hostname, platform } from 'node:os';
import { lazy } from '../bytes/reuse.ts';
import { dateOf, type SigningChain } from '../certificates/signing-chain.ts';
import { checkFormatOptions } from '../format/options.ts';
import { FORMAT_OPTIONS } from '../formats/registry.ts';
import { hasCredentials } from '../options/credentials/credentials.ts';
import type { ReplacedExtra } from '../options/extra.ts';
import type { SigningSettings, TimestampSettings } from '../options/resolve.ts';
import type { Environment } from '../options/table.ts';
import { signingWarnings } from '../signing/errors.ts';
import type { SigningEvent } from '../signing/outcome.ts';
import type { Run } from '../signing/run.ts';
import type { ClientInfo } from '../signing/service/account.ts';
import { withoutJournal } from '../signing/service/call.ts';
import type { Inside } from '../signing/signing-policy.ts';
import type { Signing } from '../signing/signing-run.ts';
import { readChain } from './compose-config.ts';
import {
  checkProxies,
  composeService,
  composeTimestamps,
  readTimestampRoots,
  readTlsRoots,
} from './compose-connection.ts';
import { composeCredentials } from './compose-credentials.ts';
import { composeJournal, type OpenedRun, openRun, type Runtime } from './compose-local.ts';
import { REVISION, VERSION } from './version.ts';

export interface OpenedSigning extends OpenedRun, Signing, AsyncDisposable {
  /** Records that the run succeeded, as the last action of the run. Never throws. */
  noteEnd(isWell?: boolean): void;
}

/** Throws if no file could be signed. */
export async function openSigning(
  settings: SigningSettings & Pick<Partial<Run>, 'fileDigests'>,
  runtime: Runtime,
  onEvent: (event: SigningEvent) => void,
): Promise<OpenedSigning> {
  const { env } = runtime;
  const { algorithm, formatOptions, timestamps } = settings;
  const timestampAlgorithm = timestamps.urls.length > 0 ? timestamps.algorithm : undefined;
  const inside = await insideOf(settings);
  const chain = await readChain(settings.certificate, env);
  checkFormatOptions(FORMAT_OPTIONS, formatOptions);
  const opened = await openRun(onEvent, settings);
  const connection = await (settings.dryRun
    ? checkConnection(settings, env)
    : connect(settings, env, opened.run.onEvent));
  const { account, authorities } = connection;
  const journal = settings.dryRun || !settings.journal ? undefined : await composeJournal(runtime, settings.timeout);
  const close = lazy(async () => journal?.close());
  const warnings = [
    ...chain.warnings,
    ...connection.warnings,
    ...timestampWarnings(timestamps, chain),
    ...(settings.journal ? [] : [signingWarnings('journal-off')]),
  ];
  connection.prepare?.();
  return {
    ...opened,
    run: { ...opened.run, ...(inside && { containers: inside.containers }) },
    context: { algorithm, timestampAlgorithm, chain, formatOptions },
    policy: { ...settings, inside, isAlgorithmGiven: settings.look.one('algorithm') !== undefined },
    typedOptions: FORMAT_OPTIONS.filter(({ key, flag }) => settings.look.one(key)?.origin === flag),
    account: account && {
      ...account,
      journal: journal ?? withoutJournal,
      client: describeClient(account.clientId, settings.extra),
    },
    authorities,
    warnings,
    laterWarnings: [journal?.warnings ?? [], connection.later],
    close,
    noteEnd: (isWell) => journal?.ended(isWell),
    async [Symbol.asyncDispose](): Promise<void> {
      await close();
      await account?.service.close();
    },
  };
}

async function insideOf({ inside, policy, exclude }: SigningSettings): Promise<Inside | undefined> {
  if (!inside && policy === undefined) return undefined;
  const { composeSignInside } = await import('./compose-sign-inside.ts');
  return await composeSignInside({ exclude, policy });
}

export function describeClient(id: string, replaced: ReplacedExtra): ClientInfo {
  return {
    id,
    platform: `${platform()} ${arch()}`,
    version: VERSION,
    revision: REVISION,
    hostname: hostname(),
    replaced,
  };
}

async function connect(settings: SigningSettings, env: Environment, onEvent: (event: SigningEvent) => void) {
  const { baseUrl, code } = settings;
  if (baseUrl === undefined || code === undefined) {
    throw new Error('settings for a run that calls the service have its address and a certificate number');
  }
  const roots = await readTimestampRoots(settings.timestamps);
  const credentials = await composeCredentials(env, settings, baseUrl.origin);
  const { service, http, client, later } = await composeService(baseUrl, credentials, settings, env, onEvent);
  return {
    account: { service, origin: baseUrl.origin, code, clientId: client },
    /** Connects to the service, and resolves the first timestamp authority, before either is needed. */
    prepare(): void {
      http.prepare(baseUrl);
      const [first] = settings.timestamps.urls;
      if (first !== undefined) http.resolve(first);
    },
    authorities: composeTimestamps(settings, settings.timestamps, http, roots, onEvent),
    warnings: credentials.warnings,
    later,
  };
}

/** Warns early: users often notice too late what a missing timestamp means. */
function timestampWarnings(
  { urls, isDeclined }: TimestampSettings,
  { leaf: { notAfter } }: SigningChain,
): readonly string[] {
  if (urls.length > 0 || isDeclined) return [];
  return [signingWarnings('timestamp-not-configured', { date: dateOf(notAfter) })];
}

/** Needs no credentials, but checks all specified settings, because the real run would fail later. */
async function checkConnection(settings: SigningSettings, env: Environment) {
  await readTlsRoots(settings, env);
  await readTimestampRoots(settings.timestamps);
  checkProxies(settings, [...(settings.baseUrl ? [settings.baseUrl] : []), ...settings.timestamps.urls]);
  const nothing = { account: undefined, authorities: undefined, prepare: undefined, later: [] };
  if (!hasCredentials(env)) return { ...nothing, warnings: [] };
  const { warnings } = await composeCredentials(env, settings, settings.baseUrl?.origin);
  return { ...nothing, warnings };
}
