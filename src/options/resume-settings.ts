/** What `resume` is told: the service, the certificate and the authorities, as far as they are needed for what is unfinished. */

import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import type { Proxies } from '../http/proxy.ts';
import { lookUp, NOTHING_STORED, readBaseUrl, type Stored } from './lookup.ts';
import { requireCertificates } from './missing.ts';
import type { Environment, ProfileOptions, TimestampOptions } from './options.ts';
import { resolveProxies } from './proxy-settings.ts';
import { resolveTimestampSettings, type TimestampSettings } from './timestamp-settings.ts';
import { FILENAME_MASKS, type FilenameMask, readConcurrency, readText, readTimeout, readWord } from './values.ts';

export interface ResumeOptions extends TimestampOptions, ProfileOptions {
  readonly baseUrl?: string | undefined;
  readonly certificate?: readonly string[] | undefined;
  readonly report?: boolean | undefined;
  readonly concurrency?: string | number | undefined;
  /** In seconds. */
  readonly timeout?: string | number | undefined;
  readonly auditLog?: string | undefined;
  readonly caFile?: string | undefined;
  readonly proxy?: string | undefined;
}

export interface ResumeSettings {
  /** The name of the profile that was looked into, whether it is there or not. */
  readonly profile: string;
  /** Undefined when nothing can be finished: what is unfinished can be listed all the same. */
  readonly baseUrl: URL | undefined;
  /** Throws `setting-missing` where there is none. */
  certificates(): readonly string[];
  /** `otherwise`: the algorithm where none is given for timestamps. */
  timestamps(otherwise: DigestAlgorithm): TimestampSettings;
  readonly report: boolean;
  readonly concurrency: number;
  /** For one attempt of one call. */
  readonly timeoutMilliseconds: number;
  /** How file names stand in the records of calls. */
  readonly maskFilename: FilenameMask;
  /** Path of the file to which a record of each call is added. */
  readonly auditLog: string | undefined;
  /** Path of a PEM file with further TLS roots. */
  readonly caFile: string | undefined;
  /** Asked for where somebody is to be called. Throws `proxy-invalid`, `proxy-holds-credentials`. */
  readonly proxies: () => Proxies;
}

/** Throws `invalid-setting`, and what is wrong with the address. */
export function resolveResumeSettings(
  options: ResumeOptions,
  env: Environment,
  stored: Stored = NOTHING_STORED,
): ResumeSettings {
  const look = lookUp(options, env, stored);
  const auditLog = look.one('auditLog');
  return {
    profile: stored.profile.name,
    baseUrl: readBaseUrl(look),
    certificates: () => requireCertificates(look),
    timestamps: (otherwise) => resolveTimestampSettings(options, look, otherwise),
    report: options.report ?? true,
    concurrency: readConcurrency(look.one('concurrency')),
    timeoutMilliseconds: readTimeout(look.one('timeout')),
    maskFilename: readWord(look.one('maskFilename'), FILENAME_MASKS, 'basename'),
    auditLog: auditLog && readText(auditLog),
    caFile: look.one('caFile')?.value,
    proxies: () => resolveProxies(look, env),
  };
}
