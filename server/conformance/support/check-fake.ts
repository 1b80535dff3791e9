import { openDeployment } from '../deployment.ts';
import type { Rule } from '../rule.ts';
import { type RuleResult, runRules } from '../run-rules.ts';
import { RULES } from '../suite.ts';
import { type FakeOptions, type prepareFakes, startFake } from './fake-deployment.ts';

/** All rules except one whose result depends on timing. */
export const CERTAIN_RULES = RULES.filter(
  ({ title }) => !title.startsWith('whether the service counts a signature if the client disconnects'),
);

export interface CheckOptions extends FakeOptions {
  readonly rules?: readonly Rule[];
  readonly signatures?: boolean;
  readonly limit?: number;
}

export async function checkFake(
  prepared: Awaited<ReturnType<typeof prepareFakes>>,
  { rules = RULES, signatures = true, limit = 1000, ...fakeOptions }: CheckOptions,
) {
  await using fake = await startFake(prepared, fakeOptions);
  const deployment = openDeployment({ ...fake.options, limit });
  try {
    return { results: await runRules(deployment, rules, signatures), fake };
  } finally {
    deployment.close();
  }
}

export function titlesOf(results: readonly RuleResult[], kind: RuleResult['verdict']['kind']): readonly string[] {
  return results.filter(({ verdict }) => verdict.kind === kind).map(({ rule }) => rule.title);
}

/** Returns the titles that equal a text or match a pattern. */
export function meant(titles: readonly string[], patterns: readonly (string | RegExp)[]): readonly string[] {
  return titles.filter((title) =>
    patterns.some((pattern) => (typeof pattern === 'string' ? pattern === title : pattern.test(title))),
  );
}
