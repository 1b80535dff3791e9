/** Every setting as it would hold for a command now, with who says so: what `config` shows. */

import { definitionOf, SETTING_KEYS } from './keys.ts';
import type { Found, Lookup, Stored } from './lookup.ts';

export interface ListedSetting {
  readonly key: string;
  /** One, but for settings that take several. */
  readonly values: readonly string[];
  /** `CODESIGN_CODE`, `codesign-remote.config.json`, `profile work`, `default`. */
  readonly origin: string;
}

/** Settings that nobody has set, and that have no default, are left out. Throws `environment-unknown`. */
export function listSettings(look: Lookup, { profile }: Stored): readonly ListedSetting[] {
  const baseUrl = look.baseUrl();
  const origin = `profile ${profile.name}`;
  const environments = [...profile.environments].map(([name, address]) => ({
    key: `environments.${name}`,
    values: [withoutCredentials(address)],
    origin,
  }));
  const others = SETTING_KEYS.map((key) => {
    const { otherwise } = definitionOf(key);
    const found = look.all(key);
    if (found.length > 0) return listed(key, found);
    return { key, values: otherwise === undefined ? [] : [otherwise], origin: 'default' };
  });
  const all = [
    listed('environment', [look.environment()]),
    ...(baseUrl === undefined ? [] : [listed('baseUrl', [baseUrl])]),
    ...environments,
    ...others,
  ];
  return all.filter(({ values }) => values.length > 0);
}

function listed(key: string, found: readonly Found[]): ListedSetting {
  return {
    key,
    values: found.map(({ value }) => withoutCredentials(value)),
    origin: found[0]?.origin ?? 'default',
  };
}

/** An address with a password in it is refused where it is used; until then it is not shown either. */
function withoutCredentials(value: string): string {
  return value.replace(/^(\w+:\/*)[^/?#]*@/, '$1***@');
}
