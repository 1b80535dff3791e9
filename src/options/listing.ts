/** Every setting as it would hold for a command now, with who says so: what `config` shows. */

import type { Found, Lookup, Stored } from './lookup.ts';
import { definitionOf, type OptionKey, SETTING_KEYS } from './table.ts';

export interface ListedSetting {
  readonly key: string;
  /** One, but for settings that take several. */
  readonly values: readonly string[];
  /** `CODESIGN_CODE`, `codesign-remote.config.json`, `profile work`, `default`. */
  readonly origin: string;
}

/** Settings that nobody has set, and that have no default, are left out. Throws `environment-unknown`. */
export function listSettings(look: Lookup, { profile }: Stored): readonly ListedSetting[] {
  const origin = `profile ${profile.name}`;
  const environments = [...profile.environments].map(([name, address]) => ({
    key: `environments.${name}`,
    values: [withoutCredentials(address)],
    origin,
  }));
  const holding = (key: OptionKey): ListedSetting => listed(key, look.all(key));
  const all = [holding('environment'), holding('baseUrl'), ...environments, ...SETTING_KEYS.map(holding)];
  return all.filter(({ values }) => values.length > 0);
}

function listed(key: OptionKey, found: readonly Found[]): ListedSetting {
  const [first] = found;
  const fallback = definitionOf(key).default;
  if (first === undefined) return { key, values: fallback === undefined ? [] : [fallback], origin: 'default' };
  return { key, values: found.map(({ value }) => withoutCredentials(value)), origin: first.origin };
}

/** An address with a password in it is refused where it is used; until then it is not shown either. */
function withoutCredentials(value: string): string {
  return value.replace(/^(\w+:\/*)[^/?#]*@/, '$1***@');
}
