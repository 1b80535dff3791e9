/** Everything a run is told, from options, environment, files and defaults, judged and frozen. */

import { dirname } from 'node:path';
import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import type { Proxies } from '../http/proxy.ts';
import { hasCredentials } from './credentials/credentials.ts';
import { settingsErrors } from './errors.ts';
import { type Found, type Lookup, lookUp, NOTHING_STORED, PROJECT_FILE, readBaseUrl, type Stored } from './lookup.ts';
import { refuseMissing } from './missing.ts';
import type { Environment, SettingsOptions } from './options.ts';
import { resolveProxies } from './proxy-settings.ts';
import type { ProjectOutput } from './stored/project-output.ts';
import { resolveTimestampSettings, type TimestampSettings } from './timestamp-settings.ts';
import {
  EXTRA_POLICIES,
  type ExtraPolicy,
  FILENAME_MASKS,
  type FilenameMask,
  REPORT_FAILURES,
  type ReportFailures,
  readAlgorithm,
  readConcurrency,
  readMaxSignatures,
  readMonthlyBudget,
  readText,
  readTimeout,
  readWebPage,
  readWord,
} from './values.ts';

export type { ExtraPolicy, FilenameMask } from './values.ts';

/** skip: a file with an intact signature by this certificate is left alone. */
export type ExistingSignatures = 'replace' | 'append' | 'skip';

export interface Settings {
  /** The name of the profile that was looked into, whether it is there or not. */
  readonly profile: string;
  /** Where the service is; undefined only in a dry run. */
  readonly baseUrl: URL | undefined;
  /** Number of the certificate at the service; undefined only in a dry run. */
  readonly code: string | undefined;
  /** Paths of the signing certificate and its chain; at least one. */
  readonly certificates: readonly string[];
  readonly algorithm: DigestAlgorithm;
  /** The authorities to ask, in order; none for a signature without a timestamp. */
  readonly timestamps: TimestampSettings;
  readonly description: string | undefined;
  readonly url: string | undefined;
  /** Names the files of a JAR's signature; undefined for a name made of the certificate's. */
  readonly signerName: string | undefined;
  /** Sign a JAR although Java will take the result as unsigned. */
  readonly allowUnsignedResult: boolean;
  readonly output: string | undefined;
  /** Set if a project file chose the output. */
  readonly projectOutput: ProjectOutput | undefined;
  readonly existing: ExistingSignatures;
  readonly concurrency: number;
  /** For one attempt of one call. */
  readonly timeoutMilliseconds: number;
  readonly allOrNothing: boolean;
  /** A run that might ask for more signatures is refused; undefined for no limit. */
  readonly maxSignatures: number | undefined;
  /** A run that might go beyond it is refused; undefined for no limit. */
  readonly monthlyBudget: number | undefined;
  readonly maskFilename: FilenameMask;
  readonly extra: ExtraPolicy;
  readonly report: boolean;
  readonly reportFailures: ReportFailures;
  /** Whether calls are kept in the journal. */
  readonly journal: boolean;
  /** Path of the file to which a record of each call is added. */
  readonly auditLog: string | undefined;
  /** Path of a PEM file with further TLS roots. */
  readonly caFile: string | undefined;
  /** Asked for where somebody is to be called. Throws `proxy-invalid`, `proxy-holds-credentials`. */
  readonly proxies: () => Proxies;
  readonly dryRun: boolean;
}

/** Throws `invalid-setting`, `setting-missing`, `settings-conflict` or `environment-unknown`, all of category usage. */
export function resolveSettings(options: SettingsOptions, env: Environment, stored: Stored = NOTHING_STORED): Settings {
  const look = lookUp(options, env, stored);
  const dryRun = options.dryRun ?? false;
  const baseUrl = readBaseUrl(look);
  const code = text(look.one('code'));
  const certificates = look.all('certificate');
  refuseMissing({
    settings: [
      ...(dryRun || baseUrl !== undefined ? [] : (['baseUrl'] as const)),
      ...(dryRun || code !== undefined ? [] : (['code'] as const)),
      ...(certificates.length > 0 ? [] : (['certificate'] as const)),
    ],
    isWithoutCredentials: !dryRun && !hasCredentials(env),
  });
  const algorithm = readAlgorithm(look.one('algorithm'), 'SHA256');
  const webPage = look.one('url');
  return Object.freeze({
    profile: stored.profile.name,
    baseUrl,
    code,
    certificates: certificates.map(readText),
    algorithm,
    timestamps: resolveTimestampSettings(options, look, algorithm),
    description: text(look.one('description')),
    url: webPage && readWebPage(webPage),
    signerName: text(look.one('signerName')),
    allowUnsignedResult: options.allowUnsignedResult ?? false,
    output: text(look.one('output')),
    projectOutput: readProjectOutput(look.one('output'), stored),
    existing: readExisting(options),
    concurrency: readConcurrency(look.one('concurrency')),
    timeoutMilliseconds: readTimeout(look.one('timeout')),
    allOrNothing: options.allOrNothing ?? false,
    maxSignatures: readMaxSignatures(look.one('maxSignatures')),
    monthlyBudget: readBudget(options, look),
    maskFilename: readWord(look.one('maskFilename'), FILENAME_MASKS, 'basename'),
    extra: readWord(look.one('extra'), EXTRA_POLICIES, 'all'),
    report: options.report ?? true,
    reportFailures: readWord(look.one('reportFailures'), REPORT_FAILURES, 'pending'),
    journal: options.journal ?? true,
    auditLog: text(look.one('auditLog')),
    caFile: look.one('caFile')?.value,
    proxies: () => resolveProxies(look, env),
    dryRun,
  });
}

function text(found: Found | undefined): string | undefined {
  return found && readText(found);
}

function readProjectOutput(found: Found | undefined, { project }: Stored): ProjectOutput | undefined {
  if (found?.origin !== PROJECT_FILE || project === undefined) return undefined;
  return { path: project.path, folder: dirname(project.path) };
}

/** Who keeps no journal cannot count. */
function readBudget({ journal = true }: SettingsOptions, look: Lookup): number | undefined {
  const found = look.one('monthlyBudget');
  if (found !== undefined && !journal) {
    throw settingsErrors('settings-conflict', { options: `--no-journal and ${found.name}` });
  }
  return readMonthlyBudget(found);
}

function readExisting({ replace, append, skipSigned }: SettingsOptions): Settings['existing'] {
  const asked = [replace && '--replace', append && '--append', skipSigned && '--skip-signed'].filter(Boolean);
  if (asked.length > 1) throw settingsErrors('settings-conflict', { options: asked.join(' and ') });
  if (append) return 'append';
  return skipSigned ? 'skip' : 'replace';
}
