/** All rules, in the document's order, and how some of them are chosen. */

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

/** By section; within one as they are written. */
export const RULES: readonly Rule[] = [...ALL].sort((one, other) =>
  one.section.localeCompare(other.section, 'en', { numeric: true }),
);

/** The rules of a section ("7", "4.1 rule 1") or with these words in their title; all where nothing is named. */
export function selectRules(only: readonly string[]): readonly Rule[] {
  if (only.length === 0) return RULES;
  return RULES.filter((rule) => only.some((wanted) => isMeant(rule, wanted)));
}

/** "7" means "7 check 1" too, and "2" means "2.3"; "4" does not mean "40". */
export function isMeant({ section, title }: Rule, wanted: string): boolean {
  if (section === wanted || section.startsWith(`${wanted} `) || section.startsWith(`${wanted}.`)) return true;
  return !/^[\d.]*$/.test(wanted) && title.toLowerCase().includes(wanted.toLowerCase());
}

/** The deployment could make a signature for this rule. */
export function couldSign({ spends, shares = [] }: Rule): boolean {
  return spends > 0 || shares.length > 0;
}

/** Limit of signatures that these rules spend, on a service that rejects every clearly invalid request. */
export function mostSignatures(rules: readonly Rule[]): number {
  const shared = new Set<DigestAlgorithm>(rules.flatMap(({ shares = [] }) => shares));
  return rules.reduce((sum, { spends }) => sum + spends, shared.size);
}
