/** Warns about names that other programs could extract to an unexpected place, or over another file. */

import { type Finding, warning } from '../errors/finding.ts';
import { listedUpTo } from '../errors/plural.ts';

const MOST_SHOWN = 3;

/** Returns a check for the names in one container. */
export function createNameCheck() {
  /** Contains the first spelling of each name, keyed by the name in lower case. */
  const seen = new Map<string, string>();
  const [leaving, repeated, similar] = [new Set<string>(), new Set<string>(), new Set<string>()];

  return {
    add(name: string): void {
      const key = name.toLowerCase();
      const first = seen.get(key);
      if (leavesFolder(name)) leaving.add(name);
      if (first === undefined) seen.set(key, name);
      else (first === name ? repeated : similar).add(name);
    },
    findings: (): readonly Finding[] => [
      ...(leaving.size === 0
        ? []
        : [warning('name-leaves-folder', `Names are absolute or contain "..": ${listed(leaving)}.`)]),
      ...(repeated.size === 0
        ? []
        : [warning('name-repeated', `Several files have the same name: ${listed(repeated)}.`)]),
      ...(similar.size === 0
        ? []
        : [warning('name-differs-in-case', `Names differ from other names only in case: ${listed(similar)}.`)]),
    ],
  };
}

/** Windows programs also treat a backslash as a separator, and a letter with a colon as a drive. */
function leavesFolder(name: string): boolean {
  return /^([/\\]|[a-z]:)/i.test(name) || name.split(/[/\\]/).includes('..');
}

function listed(names: ReadonlySet<string>): string {
  return listedUpTo(
    MOST_SHOWN,
    Array.from(names, (name) => JSON.stringify(name)),
  );
}
