/** Sets up `sign --inside`. */

import { isAbsolute, relative, resolve, sep } from 'node:path';
import { planInside } from '../containers/plan-inside.ts';
import { findStaleFeeds } from '../containers/stale-feeds.ts';
import { matchesAnyOf } from '../files/file-names.ts';
import { MOST_INFLATED } from '../format/contents.ts';
import { KINDS } from '../formats/kinds.ts';
import { CONTAINERS, formats } from '../formats/registry.ts';
import type { RecordedInside } from '../journal/journal.ts';
import { locationPattern } from '../policy/location-patterns.ts';
import { readPolicy } from '../policy/policy-file.ts';
import { signRules } from '../policy/rules.ts';
import type { Inside } from '../signing/signing-policy.ts';
import { LEVELS, MOST_FILES } from './compose-inside.ts';

const LEVEL = '!/';
const LIMITS = { depth: LEVELS, files: MOST_FILES, inflated: MOST_INFLATED };

/**
 * Reads the policy. A pattern without a slash also matches names inside containers, and one with `!/` matches only
 * there.
 */
export async function composeSignInside({ exclude: typed, policy: path }: RecordedInside): Promise<Inside> {
  const exclude = typed.map((pattern) => pattern.replaceAll(sep, '/'));
  const policy = path === undefined ? undefined : await readPolicy(path, KINDS);
  const ruleFor = signRules(policy, new Date().toISOString().slice(0, 10));
  const isNameExcluded = await matchesAnyOf(exclude.filter((pattern) => !pattern.includes('/')));
  const locations = exclude.filter((pattern) => pattern.includes(LEVEL)).map(withRest);
  const staleFeeds = findStaleFeeds();
  const rules = {
    ruleFor,
    isExcluded: (outer: string, names: readonly string[]) =>
      isNameExcluded(names.join('/')) ||
      [outer, relative('', outer), resolve(outer)].some((one) =>
        locations.some((matches) => matches([one.replaceAll(sep, '/'), ...names])),
      ),
  };
  return {
    containers: CONTAINERS,
    plan: (opened, source, file, planning) =>
      planInside(opened, source, file, planning, { rules, limits: LIMITS, formats, staleFeeds }),
    recorded: {
      exclude: exclude.map((pattern) => (isRelativeLocation(pattern) ? absolute(pattern) : pattern)),
      ...(path !== undefined && { policy: resolve(path) }),
    },
  };
}

/** A pattern for a folder also matches the files in it. */
function withRest(pattern: string): (location: readonly string[]) => boolean {
  const written = pattern.replace(/^\.\//, '').replace(/\/$/, '');
  const tests = [written, `${written}/**`].map(locationPattern);
  return (location) => tests.some((matches) => matches(location));
}

/** `resume` may run in another folder. */
function isRelativeLocation(pattern: string): boolean {
  return pattern.includes(LEVEL) && !isAbsolute(pattern) && !pattern.startsWith('**');
}

function absolute(pattern: string): string {
  return `${resolve('').replaceAll(sep, '/')}/${pattern.replace(/^\.\//, '')}`;
}
