/** Finds what a policy requires for signing a file with `sign --inside`. */

import { locationPattern } from './location-patterns.ts';
import type { Policy } from './policy-file.ts';

/**
 * `location` is the path below the folder argument, then the names in the containers. `today` is a date such as
 * `2026-01-31`.
 */
export function signRules(policy: Policy | undefined, today: string) {
  const rules = (policy?.rules ?? []).map((rule) => ({ ...rule, patterns: rule.files.map(locationPattern) }));
  return (location: readonly string[], kind: string) => {
    const rule = rules.findLast(
      ({ kinds, patterns }) => kinds?.includes(kind) !== false && patterns.some((matches) => matches(location)),
    );
    const { require, sign } = { ...policy?.defaults, ...rule };
    const isOver = rule?.until !== undefined && rule.until < today;
    return { isExempt: require === 'nothing' && !isOver, sign };
  };
}
