/** Results that would go where another one goes, or where another input is: what would be left is chance, or the loss of a file. */

import { stat } from 'node:fs/promises';
import type { CodesignError } from '../errors/codesign-error.ts';
import { signingErrors } from './errors.ts';
import type { JudgedFile } from './plan.ts';
import { identityOf } from './same-file.ts';
import { placeOf } from './target.ts';

/** Of the files that will be written, those whose result may not go where it would; each with its `output-conflict`. */
export async function findConflicts<Plan extends JudgedFile>(
  plans: readonly Plan[],
  isWritten: (plan: Plan) => boolean,
): Promise<ReadonlyMap<Plan, CodesignError>> {
  const written = plans.filter(isWritten);
  const results = new Map<string, number>();
  for (const { target } of written) results.set(placeOf(target), (results.get(placeOf(target)) ?? 0) + 1);
  const inputs = new Map(plans.map((plan) => [identityOf(plan.stats), plan]));
  const conflicts = new Map<Plan, CodesignError>();
  await Promise.all(
    written.map(async (plan) => {
      const there = await stat(plan.target, { bigint: true }).catch(() => undefined);
      const owner = there && inputs.get(identityOf(there));
      if (results.get(placeOf(plan.target)) === 1 && (owner === undefined || owner === plan)) return;
      conflicts.set(plan, signingErrors('output-conflict', { target: plan.output }));
    }),
  );
  return conflicts;
}
