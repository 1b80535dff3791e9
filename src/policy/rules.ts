/** Chooses the rule for each file, and classifies all files of a run. */

import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import type { ClassifiedFile, FileOfRun, Minimum } from './classified-file.ts';
import { classify, type Requirements } from './duty.ts';
import { policyWarnings } from './errors.ts';
import { locationPattern } from './location-patterns.ts';
import type { Policy, PolicyRule } from './policy-file.ts';

const DEFAULTS: Requirements = {
  require: 'duty',
  until: undefined,
  signers: undefined,
  timestamp: false,
  digest: undefined,
  covered: ['own', 'catalog', 'package'],
  notOpened: 'warn',
};
/**
 * The weakest digest algorithm that a policy accepts by default. Without a policy, `verify` accepts every algorithm
 * that Windows and Java accept.
 */
const LEAST_DIGEST: DigestAlgorithm = 'SHA256';

/**
 * Classifies files one by one, and then the run as a whole. `today` is a date such as `2026-01-31`. `require` applies
 * to files for which the policy does not set it.
 */
export function createClassifier(policy: Policy | undefined, today: string, require: Requirements['require'] = 'duty') {
  const rules = (policy?.rules ?? []).map((rule) => ({ rule, matches: matcherOf(rule), matched: 0, goodSigned: 0 }));
  const own = { ...DEFAULTS, require };
  const defaults = policy === undefined ? own : { ...own, digest: LEAST_DIGEST, ...policy.defaults };
  const minimum = Object.entries(policy?.minimum ?? (policy === undefined ? {} : { '**': 1 })).map(
    ([pattern, least]) => ({ pattern, least, matches: locationPattern(pattern), good: 0 }),
  );

  return {
    classify(file: FileOfRun): ClassifiedFile {
      const location = [file.pathInFolder, ...file.path.slice(1)];
      const index = rules.findLastIndex(({ matches }) => matches(location, file.kind));
      const found = rules[index];
      const classified = { ...file, ...classify(file, { ...defaults, ...found?.rule }, today), rule: found && index };
      if (found !== undefined) {
        found.matched += 1;
        if (isException(found.rule) && classify(file, defaults, today).result === 'good') found.goodSigned += 1;
      }
      if (classified.result === 'good') for (const one of minimum) if (one.matches(location)) one.good += 1;
      return classified;
    },
    /** Returns the entries of `minimum` that the run has not reached. */
    missing: (): readonly Minimum[] => minimum.filter(({ good, least }) => good < least),
    warnings: (): readonly string[] =>
      rules.flatMap(({ rule, matched, goodSigned }) => {
        const files = rule.files.join(', ');
        if (!isException(rule)) return [];
        if (matched === 0) return [policyWarnings('exception-unused', { files })];
        return goodSigned < matched ? [] : [policyWarnings('exception-not-needed', { files, count: `all ${matched}` })];
      }),
  };
}

/**
 * Returns a function that finds what the policy requires for signing a file with `sign --inside`. `location` is the
 * path below the folder argument, followed by the names inside containers.
 */
export function signRules(policy: Policy | undefined, today: string) {
  const rules = (policy?.rules ?? []).map((rule) => ({ ...rule, matches: matcherOf(rule) }));
  return (location: readonly string[], kind: string) => {
    const rule = rules.findLast(({ matches }) => matches(location, kind));
    const { require, sign } = { ...policy?.defaults, ...rule };
    const isOver = rule?.until !== undefined && rule.until < today;
    return { isExempt: require === 'nothing' && !isOver, sign };
  };
}

function isException({ require }: PolicyRule): boolean {
  return require === 'intact' || require === 'nothing';
}

function matcherOf({ files, kinds }: PolicyRule): (path: readonly string[], kind: string) => boolean {
  const patterns = files.map(locationPattern);
  return (path, kind) => (kinds === undefined || kinds.includes(kind)) && patterns.some((matches) => matches(path));
}
