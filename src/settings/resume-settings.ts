/** What `resume` is told: the service, the certificate and the authorities, as far as they are needed for what is unfinished. */

import { parseBaseUrl } from './base-url.ts';
import { settingsErrors } from './errors.ts';
import type { Environment, TimestampOptions } from './options.ts';
import { either, readConcurrency, readTimeout } from './values.ts';

export interface ResumeOptions extends TimestampOptions {
  readonly baseUrl?: string | undefined;
  readonly certificate?: readonly string[] | undefined;
  readonly report?: boolean | undefined;
  readonly concurrency?: string | number | undefined;
  /** In seconds. */
  readonly timeout?: string | number | undefined;
  readonly caFile?: string | undefined;
}

export interface ResumeSettings {
  /** Undefined when nothing can be finished: what is unfinished can be listed all the same. */
  readonly baseUrl: URL | undefined;
  /** Throws `setting-missing` where there is none. */
  certificates(): readonly string[];
  readonly report: boolean;
  readonly concurrency: number;
  /** For one attempt of one call. */
  readonly timeoutMilliseconds: number;
  /** Path of a PEM file with further TLS roots. */
  readonly caFile: string | undefined;
}

/** Throws `invalid-setting`, and what is wrong with the address. */
export function resolveResumeSettings(options: ResumeOptions, env: Environment): ResumeSettings {
  const baseUrl = either(options.baseUrl, '--base-url', env, 'CODESIGN_BASE_URL');
  return {
    baseUrl: baseUrl && parseBaseUrl(baseUrl.value, baseUrl.name),
    certificates() {
      if (options.certificate?.length) return options.certificate;
      if (env.CODESIGN_CERTIFICATE) return [env.CODESIGN_CERTIFICATE];
      throw settingsErrors('setting-missing', {
        option: '--certificate',
        variable: 'CODESIGN_CERTIFICATE',
        what: 'the signing certificate and its chain',
      });
    },
    report: options.report ?? true,
    concurrency: readConcurrency(options.concurrency, env),
    timeoutMilliseconds: readTimeout(options.timeout, env),
    caFile: either(options.caFile, '--ca-file', env, 'CODESIGN_CA_FILE')?.value,
  };
}
