import { openDeployment } from '../deployment.ts';
import type { Rule } from '../rule.ts';
import { type RuleResult, runRules } from '../run-rules.ts';
import { RULES } from '../suite.ts';
import { type FakeOptions, type prepareFakes, startFake } from './fake-deployment.ts';

/** All rules except one whose result depends on timing. */
export const CERTAIN_RULES = RULES.filter(
  ({ title }) => !title.startsWith('whether the service counts a signature if the client disconnects'),
);

export async function checkFake(
  prepared: Awaited<ReturnType<typeof prepareFakes>>,
  {
    rules = RULES,
    signatures = true,
    limit = 1000,
    ...fakeOptions
  }: FakeOptions & { rules?: readonly Rule[]; signatures?: boolean; limit?: number },
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
