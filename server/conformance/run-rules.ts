/** Checks one rule at a time, so that each change of the count belongs to one rule. */

import { CannotAsk, type Deployment, LimitReached } from './deployment.ts';
import { NoAnswer } from './http.ts';
import type { Need, Rule, Verdict } from './rule.ts';
import { couldSign } from './suite.ts';

export interface RuleResult {
  readonly rule: Rule;
  readonly verdict: Verdict;
}

const MISSING: Readonly<Record<Need, string>> = {
  certificate: 'no certificate was set (--certificate)',
  count: 'the API does not return the count, and no command was set (--count-command)',
  'other-client': 'no second client was set (CODESIGN_CONFORMANCE_OTHER_ACCESS_KEY and _SECRET)',
};

/** @param signatures false omits rules for which a signature might be made */
export async function runRules(
  deployment: Deployment,
  rules: readonly Rule[],
  signatures: boolean,
  onResult: (results: RuleResult) => void = () => {},
): Promise<readonly RuleResult[]> {
  const results: RuleResult[] = [];
  for (const rule of rules) {
    const verdict = await checkRule(deployment, rule, signatures);
    results.push({ rule, verdict });
    onResult({ rule, verdict });
  }
  return results;
}

async function checkRule(deployment: Deployment, rule: Rule, signatures: boolean): Promise<Verdict> {
  const missing = missingFor(deployment, rule, signatures);
  if (missing !== undefined) return { kind: 'not-asked', why: missing };
  try {
    return await rule.ask(deployment);
  } catch (error) {
    if (error instanceof CannotAsk || error instanceof LimitReached) return { kind: 'not-asked', why: error.message };
    if (!(error instanceof NoAnswer)) throw error;
    const exchange = { request: String(error.cause ?? ''), answer: 'none' };
    return { kind: 'broken', why: `no response: ${error.message}`, exchanges: [exchange] };
  }
}

function missingFor({ options }: Deployment, rule: Rule, signatures: boolean): string | undefined {
  if (!signatures && couldSign(rule)) return 'it might use a signature (--no-signatures)';
  const given: Readonly<Record<Need, unknown>> = {
    certificate: options.key,
    count: options.count,
    'other-client': options.otherClient,
  };
  return rule.needs !== undefined && given[rule.needs] === undefined ? MISSING[rule.needs] : undefined;
}
