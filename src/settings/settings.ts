/** Everything a run is told, from options, environment and defaults, judged and frozen: option wins over environment over default. */

import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import { parseBaseUrl } from './base-url.ts';
import { settingsErrors } from './errors.ts';
import type { Environment, SettingsOptions } from './options.ts';
import { resolveTimestampSettings, type TimestampSettings } from './timestamp-settings.ts';
import {
  either,
  type Given,
  given,
  nonEmpty,
  readAlgorithm,
  readConcurrency,
  readNumber,
  readTimeout,
  readWord,
  refuse,
} from './values.ts';

const EXTRA_POLICIES = ['all', 'anonymous', 'none'] as const;
const FILENAME_MASKS = ['none', 'basename', 'hash', 'omit'] as const;

export type ExtraPolicy = (typeof EXTRA_POLICIES)[number];
export type FilenameMask = (typeof FILENAME_MASKS)[number];
/** skip: a file with an intact signature by this certificate is left alone. */
export type ExistingSignatures = 'replace' | 'append' | 'skip';

export interface Settings {
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
  readonly existing: ExistingSignatures;
  readonly concurrency: number;
  /** For one attempt of one call. */
  readonly timeoutMilliseconds: number;
  readonly allOrNothing: boolean;
  /** A run that might ask for more signatures is refused; undefined for no limit. */
  readonly maxSignatures: number | undefined;
  readonly maskFilename: FilenameMask;
  readonly extra: ExtraPolicy;
  readonly report: boolean;
  /** Whether calls are kept in the journal. */
  readonly journal: boolean;
  /** Path of a PEM file with further TLS roots. */
  readonly caFile: string | undefined;
  readonly dryRun: boolean;
}

/** Throws `invalid-setting`, `setting-missing` or `settings-conflict`, all of category usage. */
export function resolveSettings(options: SettingsOptions, env: Environment): Settings {
  const dryRun = options.dryRun ?? false;
  const baseUrl = either(options.baseUrl, '--base-url', env, 'CODESIGN_BASE_URL');
  const code = either(options.code, '--code', env, 'CODESIGN_CODE');
  if (!dryRun) {
    require(baseUrl, '--base-url', 'CODESIGN_BASE_URL', 'the address of the signing service');
    require(code, '--code', 'CODESIGN_CODE', 'the number of the certificate at the service');
  }
  const algorithm = readAlgorithm(either(options.algorithm, '--algorithm', env, 'CODESIGN_ALGORITHM'), 'SHA256');
  return Object.freeze({
    baseUrl: baseUrl && parseBaseUrl(baseUrl.value, baseUrl.name),
    code: code?.value,
    certificates: readCertificates(options, env),
    algorithm,
    timestamps: resolveTimestampSettings(options, env, algorithm),
    description: nonEmpty(options.description, '--description'),
    url: readWebPage(options.url),
    signerName: nonEmpty(options.signerName, '--signer-name'),
    allowUnsignedResult: options.allowUnsignedResult ?? false,
    output: nonEmpty(options.output, '--output'),
    existing: readExisting(options),
    concurrency: readConcurrency(options.concurrency, env),
    timeoutMilliseconds: readTimeout(options.timeout, env),
    allOrNothing: options.allOrNothing ?? false,
    maxSignatures: readMaxSignatures(options, env),
    maskFilename: readWord(given(options.maskFilename, '--mask-filename'), FILENAME_MASKS, 'basename'),
    extra: readWord(either(options.extra, '--extra', env, 'CODESIGN_EXTRA'), EXTRA_POLICIES, 'all'),
    report: options.report ?? true,
    journal: options.journal ?? true,
    caFile: either(options.caFile, '--ca-file', env, 'CODESIGN_CA_FILE')?.value,
    dryRun,
  });
}

function require(value: Given | undefined, option: string, variable: string, what: string): void {
  if (value === undefined || value.value === '') throw settingsErrors('setting-missing', { option, variable, what });
}

function readCertificates(options: SettingsOptions, env: Environment): readonly string[] {
  if (options.certificate?.length) return options.certificate;
  const path = env.CODESIGN_CERTIFICATE;
  if (path) return [path];
  throw settingsErrors('setting-missing', {
    option: '--certificate',
    variable: 'CODESIGN_CERTIFICATE',
    what: 'the signing certificate and its chain',
  });
}

/** The program's web page is shown to users of the signed file: only http and https make sense there. */
function readWebPage(url: string | undefined): string | undefined {
  if (url === undefined) return undefined;
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol === 'https:' || parsed?.protocol === 'http:') return url;
  return refuse({ value: url, name: '--url' }, 'a web address such as https://example.com/app');
}

function readExisting({ replace, append, skipSigned }: SettingsOptions): Settings['existing'] {
  const asked = [replace && '--replace', append && '--append', skipSigned && '--skip-signed'].filter(Boolean);
  if (asked.length > 1) throw settingsErrors('settings-conflict', { options: asked.join(' and ') });
  if (append) return 'append';
  return skipSigned ? 'skip' : 'replace';
}

function readMaxSignatures({ maxSignatures }: SettingsOptions, env: Environment): number | undefined {
  const limit = either(maxSignatures, '--max-signatures', env, 'CODESIGN_MAX_SIGNATURES');
  return limit && readNumber(limit, 0, { whole: true, from: 0, to: 1_000_000 });
}
