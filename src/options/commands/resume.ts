/** The settings of `resume`: checked when they are needed, so that a list of unfinished calls needs none. */

import type { DigestAlgorithm } from '../../crypto/algorithms.ts';
import { resolveExtra } from '../extra.ts';
import { lookUp, refuseConflicts, type Stored } from '../lookup.ts';
import type { Environment } from '../options.ts';
import type { OptionsOf } from '../table.ts';
import { missingSettings, resolveRequests, resolveTimestamps } from './common.ts';

export type ResumeSettings = ReturnType<typeof resolveResumeSettings>;

/** Throws `invalid-setting`, `settings-conflict`, and the errors of addresses. */
export function resolveResumeSettings(options: OptionsOf<'resume'>, env: Environment, stored: Stored) {
  const look = lookUp(options, env, stored);
  return {
    ...resolveRequests(look, env),
    profile: stored.profile.name,
    environment: look.read('environment'),
    /** Undefined when calls can be listed, but not finished. */
    baseUrl: look.read('baseUrl'),
    /** Throws `setting-missing`. */
    certificates() {
      if (look.one('certificate') === undefined) throw missingSettings(['certificate'], env);
      return look.read('certificate');
    },
    /** `fallback`: the algorithm when none is given for timestamps. Throws as `resolveTimestamps`. */
    timestamps(fallback: DigestAlgorithm) {
      refuseConflicts('resume', options);
      return resolveTimestamps(look, fallback, env);
    },
    report: look.read('report'),
    concurrency: look.read('concurrency'),
    extra: resolveExtra(look.read('extra'), look.read('fileName')),
    auditLog: look.read('auditLog'),
  };
}
