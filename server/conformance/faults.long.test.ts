import { expect, test } from 'vitest';
import { isInSample } from '../../test/support/sample.ts';
import { CERTAIN_RULES, checkFake, titlesOf } from './support/check-fake.ts';
import { prepareFakes } from './support/fake-deployment.ts';
import { FAULTS } from './support/faults.ts';

const prepared = await prepareFakes();

/** The titles that equal a text or match a pattern. */
const meant = (titles: readonly string[], patterns: readonly (string | RegExp)[]) =>
  titles.filter((title) =>
    patterns.some((pattern) => (typeof pattern === 'string' ? pattern === title : pattern.test(title))),
  );

test.each(FAULTS)('a deployment that $name breaks the rules about it, and no other', async (fault) => {
  const number = FAULTS.indexOf(fault);
  // The rules that it does not break are sampled. Each fault gets another sample.
  const rules = CERTAIN_RULES.filter(
    ({ title }, index) => meant([title], fault.breaks).length > 0 || isInSample(index + number),
  );
  const { results } = await checkFake(prepared, { ...fault, rules });
  const titles = results.map(({ rule }) => rule.title);
  for (const pattern of fault.breaks) expect([pattern, meant(titles, [pattern]).length > 0]).toEqual([pattern, true]);
  expect(titlesOf(results, 'broken')).toEqual(meant(titles, fault.breaks));
});
