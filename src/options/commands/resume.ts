/** The settings of `resume`: checked when they are needed, so that a list of unfinished calls needs none. */

import type { DigestAlgorithm } from '../../crypto/algorithms.ts';
import { lookUp, refuseConflicts, type Stored } from '../lookup.ts';
import type { Environment } from '../options.ts';
import type { OptionsOf } from '../table.ts';
import {
  missingSettings,
  type RequestSettings,
  resolveRequests,
  resolveTimestamps,
  type TimestampSettings,
} from './common.ts';
import type { FilenameMask } from './sign.ts';

export interface ResumeSettings extends RequestSettings {
  /** The name of the profile that was read, whether it exists or not. */
  readonly profile: string;
  /** Name of the profile's address. */
  readonly environment: string;
  /** Undefined when calls can be listed, but not finished. */
  readonly baseUrl: URL | undefined;
  /** Throws `setting-missing`. */
  certificates(): readonly string[];
  /** `fallback`: the algorithm when none is given for timestamps. */
  timestamps(fallback: DigestAlgorithm): TimestampSettings;
  readonly report: boolean;
  readonly concurrency: number;
  /** Form of file names in the records of calls. */
  readonly maskFilename: FilenameMask;
  /** Path of the file to which a record of each call is added. */
  readonly auditLog: string | undefined;
}

/** Throws `invalid-setting`, `settings-conflict`, and the errors of addresses. */
export function resolveResumeSettings(options: OptionsOf<'resume'>, env: Environment, stored: Stored): ResumeSettings {
  const look = lookUp(options, env, stored);
  return {
    ...resolveRequests(look, env),
    profile: stored.profile.name,
    environment: look.read('environment'),
    baseUrl: look.read('baseUrl'),
    certificates() {
      if (look.one('certificate') === undefined) throw missingSettings(['certificate'], env);
      return look.read('certificate');
    },
    timestamps(fallback) {
      refuseConflicts('resume', options);
      return resolveTimestamps(look, fallback);
    },
    report: look.read('report'),
    concurrency: look.read('concurrency'),
    maskFilename: look.read('maskFilename'),
    auditLog: look.read('auditLog'),
  };
}
