/** The environment variables that are not the variable of an option. */

import { number } from './option.ts';
import type { Environment } from './options.ts';

const DEFAULT_HISTORY_DAYS = '90';

export const VARIABLES = {
  CODESIGN_ACCESS_KEY: 'access key for the service',
  CODESIGN_ACCESS_SECRET: 'access secret for the service',
  CODESIGN_ACCESS_SECRET_FILE: 'file that holds the access secret',
  CODESIGN_CERTIFICATE_PASSWORD: 'password of a PKCS#12 certificate file',
  CODESIGN_CERTIFICATE_PASSWORD_FILE: 'file that holds that password',
  CODESIGN_CONFIG_DIR: 'folder of the file that stores the profiles',
  CODESIGN_STATE_DIR: 'folder of the journal',
  CODESIGN_HISTORY_DAYS: `days that the journal keeps finished calls (default ${DEFAULT_HISTORY_DAYS})`,
  CODESIGN_PROGRESS: 'progress of a run: live, plain or none',
  NO_COLOR: 'no colours',
  FORCE_COLOR: 'colours also in pipes; NO_COLOR takes precedence',
} as const;

const HISTORY_DAYS = number({ isWhole: true, from: 1, to: 36_500 });

/** Days that the history is kept at least. Throws `invalid-setting`. */
export function readHistoryDays(env: Environment): number {
  return HISTORY_DAYS.read({ value: env.CODESIGN_HISTORY_DAYS || DEFAULT_HISTORY_DAYS, name: 'CODESIGN_HISTORY_DAYS' });
}
