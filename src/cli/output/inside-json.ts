import type { InsideResult } from '../../app/compose-inside.ts';
import { locationOf } from '../../containers/walk.ts';
import type { ClassifiedFile, Minimum, Result } from '../../policy/classified-file.ts';
import type { Policy } from '../../policy/policy-file.ts';
import { verifiedJson, warningsOf } from './verdict-json.ts';

const UNLISTED: readonly Result[] = ['not-required', 'not-signable'];

/**
 * Scripts read this document, so names of members must not change. Files that need no signature are counted, but listed only with
 * `verbose`, or if they have a warning.
 */
export function insideJson({ files, policy, minimum, roots }: InsideResult, verbose = false) {
  const isListed = ({ result, verified }: ClassifiedFile) =>
    verbose || !UNLISTED.includes(result) || (verified !== undefined && warningsOf(verified).length > 0);
  const all = files.flat();
  return {
    files: files.map(([outer, ...inside]) => ({
      ...(outer && outerJson(outer)),
      inside: inside.filter(isListed).map(itemJson),
    })),
    ...(policy && { policy: policyJson(policy, all, minimum) }),
    summary: { inside: countResults(all) },
    roots: roots ?? null,
  };
}

function policyJson({ path, rules = [] }: Policy, files: readonly ClassifiedFile[], minimum: readonly Minimum[]) {
  return {
    file: path,
    rules: rules.map((_, index) => {
      const decided = files.filter(({ rule }) => rule === index);
      const { good = 0, failed = 0, exempt = 0 } = countResults(decided);
      return { matched: decided.length, good, failed, exempt };
    }),
    minimum: minimum.map(({ pattern, least, good }) => ({ pattern, least, good })),
  };
}

function countResults(files: readonly ClassifiedFile[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { result } of files) counts[result] = (counts[result] ?? 0) + 1;
  return counts;
}

function outerJson(file: ClassifiedFile) {
  const [path] = file.path;
  return { ...(file.verified === undefined ? {} : verifiedJson(file.verified)), path, ...resultJson(file) };
}

function itemJson(file: ClassifiedFile) {
  const { path, kind, verified, sameAs } = file;
  const { path: _, ...own } = verified === undefined ? { path: '' } : verifiedJson(verified);
  return {
    location: locationOf(path),
    path,
    kind,
    ...own,
    ...resultJson(file),
    sameAs: sameAs === undefined ? null : locationOf(sameAs),
  };
}

function resultJson({ result, rule, cause, covered, notOpened }: ClassifiedFile) {
  return {
    result,
    rule: rule ?? null,
    cause: cause ?? null,
    covered: covered ?? null,
    ...(notOpened && { notOpened: { code: notOpened.code, message: notOpened.message } }),
  };
}
