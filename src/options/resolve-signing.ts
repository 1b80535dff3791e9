import type { FormatOptions } from '../format/options.ts';
import { hasCredentials } from './credentials/credentials.ts';
import { resolveExtra } from './extra.ts';
import type { Stored } from './lookup.ts';
import type { Environment } from './options.ts';
import { missingSettings, type Resolved, resolve, resolveTimestamps } from './resolve.ts';
import { FORMAT_OPTION_KEYS } from './table/formats.ts';
import type { OptionsOf } from './table.ts';

/** `skip` keeps a file that has an intact signature made with this certificate. */
export type ExistingSignatures = 'replace' | 'append' | 'skip' | 'skip-any';

export type SigningSettings = ReturnType<typeof resolveSigning>;

export function resolveSigning(options: OptionsOf<'sign'>, env: Environment, stored?: Stored) {
  const settings = resolve('sign', options, env, stored);
  const { look, dryRun, algorithm } = settings;
  const needed = dryRun ? (['certificate'] as const) : (['baseUrl', 'code', 'certificate'] as const);
  const missing = needed.filter((key) => look.one(key) === undefined);
  if (missing.length > 0) throw missingSettings(missing, env, { hasCredentials: dryRun || hasCredentials(env) });
  return {
    ...settings,
    timestamps: resolveTimestamps(look, algorithm, env),
    formatOptions: formatOptionsOf(settings),
    existing: existingOf(settings),
    extra: resolveExtra(settings.extra, settings.fileName),
  };
}

function formatOptionsOf(settings: Resolved<'sign'>): FormatOptions {
  return Object.fromEntries(FORMAT_OPTION_KEYS.flatMap((key) => (settings[key] ? [[key, settings[key]]] : [])));
}

function existingOf({ replace, append, skipSigned, skipAnySigned }: Resolved<'sign'>): ExistingSignatures | undefined {
  if (replace) return 'replace';
  if (append) return 'append';
  if (skipAnySigned) return 'skip-any';
  return skipSigned ? 'skip' : undefined;
}
