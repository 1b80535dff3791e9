import { dirname } from 'node:path';
import type { FormatOptions } from '../../format/options.ts';
import { FORMAT_OPTIONS } from '../../formats/registry.ts';
import { hasCredentials } from '../credentials/credentials.ts';
import { resolveExtra } from '../extra.ts';
import { type Lookup, lookUp, NOTHING_STORED, PROJECT_FILE, refuseConflicts, type Stored } from '../lookup.ts';
import type { Environment, SettingsOptions } from '../options.ts';
import type { ProjectOutput } from '../stored/project-output.ts';
import { FORMAT_OPTION_KEYS } from '../table/formats.ts';
import { missingSettings, resolveRequests, resolveTimestamps } from './common.ts';

/** skip: a file with an intact signature of this certificate does not change. */
export type ExistingSignatures = 'replace' | 'append' | 'skip' | 'skip-any';

export type Settings = ReturnType<typeof resolveSettings>;

/** Throws `invalid-setting`, `setting-missing`, `settings-conflict` or `environment-unknown`, all of category usage. */
export function resolveSettings(options: SettingsOptions, env: Environment, stored: Stored = NOTHING_STORED) {
  refuseConflicts('sign', options);
  const look = lookUp(options, env, stored);
  const dryRun = look.read('dryRun');
  const baseUrl = look.read('baseUrl');
  const code = look.read('code');
  const needed = dryRun ? (['certificate'] as const) : (['baseUrl', 'code', 'certificate'] as const);
  const missing = needed.filter((key) => look.one(key) === undefined);
  if (missing.length > 0) throw missingSettings(missing, env, { hasCredentials: dryRun || hasCredentials(env) });
  const algorithm = look.read('algorithm');
  const timestamps = resolveTimestamps(look, algorithm, env);
  return Object.freeze({
    ...resolveRequests(look, env),
    profile: stored.profile.name,
    environment: look.read('environment'),
    /** Undefined only in a dry run, as `code` is. */
    baseUrl,
    code,
    certificates: look.read('certificate'),
    algorithm,
    /** False if it is the default. */
    isAlgorithmGiven: look.one('algorithm') !== undefined,
    timestamps,
    formatOptions: formatOptionsOf(look),
    /** Those that come from neither a settings file nor a default. */
    typedOptions: FORMAT_OPTIONS.filter(({ key, flag }) => look.one(key)?.origin === flag),
    output: look.read('output'),
    /** Set if a project file chose the output. */
    projectOutput: projectOutputOf(look, stored),
    /** Undefined for the default mode of each format. */
    existing: existingOf(look),
    concurrency: look.read('concurrency'),
    allOrNothing: look.read('allOrNothing'),
    maxSignatures: look.read('maxSignatures'),
    repeatUnknown: look.read('repeatUnknown'),
    extra: resolveExtra(look.read('extra'), look.read('fileName')),
    report: look.read('report'),
    journal: look.read('journal'),
    auditLog: look.read('auditLog'),
    dryRun,
  });
}

function projectOutputOf(look: Lookup, { project }: Stored): ProjectOutput | undefined {
  if (look.one('output')?.origin !== PROJECT_FILE || project === undefined) return undefined;
  return { path: project.path, folder: dirname(project.path) };
}

function formatOptionsOf(look: Lookup): FormatOptions {
  const values = FORMAT_OPTION_KEYS.map((key) => [key, look.read(key) || undefined] as const);
  return Object.fromEntries(values.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
}

function existingOf(look: Lookup): ExistingSignatures | undefined {
  if (look.read('replace')) return 'replace';
  if (look.read('append')) return 'append';
  if (look.read('skipAnySigned')) return 'skip-any';
  return look.read('skipSigned') ? 'skip' : undefined;
}
