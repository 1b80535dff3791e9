/** Reads only settings that the unfinished calls need: listing and discarding calls need no credentials. */

import { lazy } from '../bytes/reuse.ts';
import type { CodesignError } from '../errors/codesign-error.ts';
import type { Journal, UnfinishedCall } from '../journal/journal.ts';
import { hasCredentials, isWithoutCredentials } from '../options/credentials/credentials.ts';
import { type ReplacedExtra, resolveExtra } from '../options/extra.ts';
import type { Stored } from '../options/lookup.ts';
import { missingSettings, type Resolved, resolve, resolveTimestamps } from '../options/resolve.ts';
import type { Environment, OptionsOf } from '../options/table.ts';
import type { SigningService } from '../service/signing-service.ts';
import type { SigningEvent } from '../signing/outcome.ts';
import {
  forgetCalls,
  listCalls,
  planCall,
  type ResumeIdentity,
  removeStaleFilesOf,
  resumeCalls,
} from '../signing/resume/resume.ts';
import type { ResumedCall } from '../signing/resume/resumed-call.ts';
import type { CreateSigning } from '../signing/resume/write-files.ts';
import { leafDigest } from '../signing/service/key-match.ts';
import type { Signing } from '../signing/signing-run.ts';
import { readChain } from './compose-config.ts';
import {
  composeService,
  composeTimestamps,
  readTimestampRoots,
  type ServiceComposition,
} from './compose-connection.ts';
import { composeCredentials } from './compose-credentials.ts';
import { composeJournal, composeJournalReading, hasJournal, openRun, type Runtime } from './compose-local.ts';
import { describeClient } from './compose-signing.ts';

type ResumeSettings = Resolved<'resume'> & { readonly extra: ReplacedExtra };

interface Connection extends ServiceComposition {
  readonly given: ResumeIdentity;
}

export async function composeResume(
  options: OptionsOf<'resume'>,
  stored: Stored,
  runtime: Runtime,
  onEvent: (event: SigningEvent) => void,
) {
  const { env } = runtime;
  const resolved = resolve('resume', options, env, stored);
  const { look, dryRun, forget, forgetUnknown } = resolved;
  const settings = { ...resolved, extra: resolveExtra(look.read('extra'), look.read('fileName')) };
  const reading = dryRun ? await composeJournalReading(env) : undefined;
  const journal =
    reading === undefined && (await hasJournal(env)) ? await composeJournal(runtime, settings.timeout) : undefined;
  const calls = [...((await (reading ?? journal)?.unfinished()) ?? [])].sort((one, other) =>
    one.at < other.at ? -1 : 1,
  );
  const isForgetting = forget.length > 0 || forgetUnknown;
  const isOptional = (dryRun || isForgetting) && !hasCredentials(env);
  const isUseful = calls.some(({ kind }) => kind !== 'under-way' && kind !== 'unknown');
  const auditLog = dryRun ? undefined : settings.auditLog;
  const failedReports = new Map<string, CodesignError>();
  const { run, removeTemporaryFiles } = await openRun((event) => {
    if (event.type === 'report-failed') failedReports.set(event.record, event.error);
    onEvent(event);
  }, settings);
  const connecting = isUseful ? connect({ ...settings, auditLog }, env, run.onEvent) : undefined;
  const connection = await (isOptional ? connecting?.catch(withoutCredentials) : connecting);
  const warnings: string[] = [...(connection?.warnings ?? [])];
  const close = lazy(async () => journal?.close());

  async function resume(signal: AbortSignal | undefined): Promise<readonly ResumedCall[]> {
    await removeStaleFilesOf(calls, run.disk);
    if (journal === undefined || connection === undefined) return listCalls(calls, undefined);
    const writing = needsWriting(calls, connection.given)
      ? await composeWriting(settings, env, connection, run)
      : undefined;
    for (const warning of writing?.warnings ?? []) warnings.push(warning);
    const given = { ...connection.given, leaf: writing?.leaf };
    const createSigning: CreateSigning = (shared, known) => {
      if (writing === undefined) throw new Error('files are written with the certificate of their signatures');
      return writing.createSigning(shared, known);
    };
    const { service } = connection;
    const parts = { ...settings, journal, service, createSigning, failedReports };
    return await resumeCalls(calls, given, parts, signal);
  }

  async function giveUp(): Promise<readonly ResumedCall[]> {
    const unknown = forgetUnknown ? calls.filter(({ kind }) => kind === 'unknown').map(({ id }) => id) : [];
    const { report, extra } = settings;
    const service = report ? connection?.service : undefined;
    const parts = { journal: journal ?? NO_JOURNAL, service, extra };
    const ids = [...new Set([...forget, ...unknown])];
    return await forgetCalls(ids, calls, connection?.given, parts, (sentence) => warnings.push(sentence));
  }

  return {
    async run(signal?: AbortSignal): Promise<readonly ResumedCall[]> {
      if (dryRun) return listCalls(calls, connection?.given);
      const resumed = await (isForgetting ? giveUp() : resume(signal));
      await close();
      return resumed;
    },
    warnings: (): readonly string[] => [
      ...warnings,
      ...run.listenerWarnings,
      ...((reading ?? journal)?.warnings ?? []),
      ...(connection?.later ?? []),
    ],
    removeTemporaryFiles,
    /** Records that the run succeeded, as the last action of the run. Never throws. */
    noteEnd: (isWell?: boolean): void => journal?.ended(isWell),
    async [Symbol.asyncDispose](): Promise<void> {
      reading?.[Symbol.dispose]();
      await close();
      await connection?.service.close();
    },
  };
}

function withoutCredentials(thrown: unknown): undefined {
  if (!isWithoutCredentials(thrown)) throw thrown;
}

const NO_JOURNAL: Pick<Journal, 'forget' | 'reported'> = {
  forget: async () => 'not-found',
  reported: async () => false,
};

function needsWriting(calls: readonly UnfinishedCall[], given: ResumeIdentity): boolean {
  return calls.map((call) => planCall(call, given)).some(({ next, error }) => next === 'write' && error === undefined);
}

async function connect(
  settings: ResumeSettings,
  env: Environment,
  onEvent: (event: SigningEvent) => void,
): Promise<Connection | undefined> {
  const { baseUrl } = settings;
  if (baseUrl === undefined) return undefined;
  const credentials = await composeCredentials(env, settings, baseUrl.origin);
  const connection = await composeService(baseUrl, credentials, settings, env, onEvent);
  return { ...connection, given: { origin: baseUrl.origin, client: connection.client, leaf: undefined } };
}

/** Files get a timestamp unless the user explicitly disabled timestamps. */
async function composeWriting(
  settings: ResumeSettings,
  env: Environment,
  { service, http, given }: Connection,
  run: Signing['run'],
) {
  const { look, certificate } = settings;
  if (certificate.length === 0) throw missingSettings(['certificate'], env);
  const chain = await readChain(certificate, env);
  const wanted = resolveTimestamps(look, 'SHA256', env);
  const { urls, isDeclined } = wanted;
  const roots = await readTimestampRoots(wanted);
  if (urls.length === 0 && !isDeclined) {
    throw missingSettings(['timestampUrl'], env, { or: '--no-timestamp' });
  }
  const createSigning: CreateSigning = async ({ code, algorithm, signingOptions }, journal) => {
    const { existing, report, inside: recorded } = signingOptions;
    const inside = recorded && (await (await import('./compose-sign-inside.ts')).composeSignInside(recorded));
    const timestamps = resolveTimestamps(look, algorithm, env);
    const timestampAlgorithm = urls.length > 0 ? timestamps.algorithm : undefined;
    return {
      run: { ...run, ...(inside && { containers: inside.containers }) },
      context: { algorithm, timestampAlgorithm, chain, formatOptions: signingOptions.formatOptions },
      typedOptions: [],
      policy: {
        existing,
        inside,
        // The signatures of files inside the file may use a different algorithm from the call.
        isAlgorithmGiven: false,
        allOrNothing: false,
        report: settings.report && report,
      },
      account: {
        service: withoutSigning(service),
        origin: given.origin,
        code,
        journal,
        client: describeClient(given.client, settings.extra),
      },
      authorities: composeTimestamps(settings, timestamps, http, roots, run.onEvent),
      warnings: [],
      laterWarnings: [],
    };
  };
  return { createSigning, leaf: leafDigest(chain), warnings: chain.warnings };
}

/** `resume` never requests a signature. */
function withoutSigning(service: SigningService): SigningService {
  return {
    ...service,
    async sign() {
      throw new Error('resume requests no signature');
    },
  };
}
