import { settingsWarnings } from './errors.ts';
import { number } from './option.ts';
import { suggest } from './suggest.ts';
import { type Environment, OPTION_VARIABLES } from './table.ts';

const DEFAULT_HISTORY_DAYS = '90';

export const VARIABLES = {
  CODESIGN_ACCESS_KEY: 'access key for the service',
  CODESIGN_ACCESS_SECRET: 'access secret for the service',
  CODESIGN_ACCESS_SECRET_FILE: 'file with the access secret',
  CODESIGN_CERTIFICATE_PASSWORD: 'password of a PKCS#12 certificate file',
  CODESIGN_CERTIFICATE_PASSWORD_FILE: 'file with this password',
  CODESIGN_CONFIG_DIR: 'folder of the file that stores the profiles',
  CODESIGN_STATE_DIR: 'folder of the journal',
  CODESIGN_HISTORY_DAYS: `days that the journal keeps finished calls (default ${DEFAULT_HISTORY_DAYS})`,
  CODESIGN_PROGRESS: 'progress of a run: live, plain or none',
  NO_COLOR: 'colours off',
  FORCE_COLOR: 'colours in pipes too; NO_COLOR takes precedence',
} as const;

/** An empty variable often means that CI did not provide a secret. Returns an empty string if no variable is empty. */
export function emptyVariables(names: readonly string[], env: Environment): string {
  const empty = names.filter((name) => env[name] === '');
  return empty.length === 0 ? '' : `${listed(empty)} ${empty.length === 1 ? 'is' : 'are'} set but empty`;
}

export function listed(parts: readonly string[]): string {
  const last = parts.at(-1) ?? '';
  return parts.length > 1 ? `${parts.slice(0, -1).join(', ')} and ${last}` : last;
}

/** Does not report variables of the server and of the tests. */
export function unknownVariables(env: Environment): readonly string[] {
  const known = [...Object.keys(VARIABLES), ...OPTION_VARIABLES].filter((name) => name.startsWith(PREFIX));
  const words = known.map((name) => name.slice(PREFIX.length));
  return Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && !/^CODESIGN_(?:SERVER|TEST)_/.test(name) && !known.includes(name))
    .map((name) => {
      const meant = suggest(name.slice(PREFIX.length), words);
      return settingsWarnings('variable-unknown', {
        name,
        suggestion: meant === undefined ? '' : `: did you mean ${PREFIX}${meant}?`,
      });
    });
}

const PREFIX = 'CODESIGN_';

const HISTORY_DAYS = number({ isWhole: true, from: 1, to: 36_500 });

export function readHistoryDays(env: Environment): number {
  return HISTORY_DAYS.read({ value: env.CODESIGN_HISTORY_DAYS || DEFAULT_HISTORY_DAYS, name: 'CODESIGN_HISTORY_DAYS' });
}
