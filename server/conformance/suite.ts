/** All rules in the order of the document, and their selection. */

import type { DigestAlgorithm } from '../../src/crypto/algorithms.ts';
import type { Rule } from './rule.ts';
import { AUTHENTICATION_RULES } from './rules/authentication.ts';
import { CONNECTION_RULES } from './rules/connections.ts';
import { COUNTING_RULES } from './rules/counting.ts';
import { ENVELOPE_RULES } from './rules/envelope.ts';
import { EXTRA_RULES } from './rules/extra.ts';
import { PARAMETER_RULES } from './rules/parameters.ts';
import { REPORT_RULES } from './rules/report.ts';
import { SIGN_RULES } from './rules/sign.ts';
import { TRANSPORT_RULES } from './rules/transport.ts';

const ALL: readonly Rule[] = [
  ...SIGN_RULES,
  ...EXTRA_RULES,
  ...ENVELOPE_RULES,
  ...TRANSPORT_RULES,
  ...CONNECTION_RULES,
  ...REPORT_RULES,
  ...AUTHENTICATION_RULES,
  ...PARAMETER_RULES,
  ...COUNTING_RULES,
];

/** Sorted by section; within a section, in source order. */
export const RULES: readonly Rule[] = [...ALL].sort((one, other) =>
  one.section.localeCompare(other.section, 'en', { numeric: true }),
);

/** Returns the rules of these sections or with these words in the title; all rules if `only` is empty. */
export function selectRules(only: readonly string[]): readonly Rule[] {
  if (only.length === 0) return RULES;
  return RULES.filter((rule) => only.some((wanted) => isMeant(rule, wanted)));
}

/** "7" also selects "7 check 1", and "2" selects "2.3", but "4" does not select "40". */
export function isMeant({ section, title }: Rule, wanted: string): boolean {
  if (section === wanted || section.startsWith(`${wanted} `) || section.startsWith(`${wanted}.`)) return true;
  return !/^[\d.]*$/.test(wanted) && title.toLowerCase().includes(wanted.toLowerCase());
}

/** True if a deployment might make a signature for this rule. */
export function couldSign({ spends, shares = [] }: Rule): boolean {
  return spends > 0 || shares.length > 0;
}

/** Maximum number of signatures that these rules use, if the service rejects every clearly invalid request. */
export function mostSignatures(rules: readonly Rule[]): number {
  const shared = new Set<DigestAlgorithm>(rules.flatMap(({ shares = [] }) => shares));
  return rules.reduce((sum, { spends }) => sum + spends, shared.size);
}
