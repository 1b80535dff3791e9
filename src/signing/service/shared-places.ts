/** Results that would go where another one goes, or where another input is: what would be left is chance, or the loss of a file. */

import { statSync } from 'node:fs';
import type { CodesignError } from '../../errors/codesign-error.ts';
import { signingErrors } from '../errors.ts';
import { identityOf } from '../files/same-file.ts';
import { findOnePlace } from '../files/same-path.ts';
import type { JudgedFile } from '../plan.ts';

/** Of the files that will be written, those whose result may not go where it would; each with its `output-conflict`. */
export function findConflicts<Plan extends JudgedFile>(
  plans: readonly Plan[],
  isWritten: (plan: Plan) => boolean,
): ReadonlyMap<Plan, CodesignError> {
  const written = plans.filter(isWritten);
  const results = new Map<string, number>();
  for (const { target } of written) results.set(target, (results.get(target) ?? 0) + 1);
  const alike = findOnePlace(results.keys());
  const inputs = new Map(plans.map((plan) => [identityOf(plan.stats), plan]));
  const conflicts = new Map<Plan, CodesignError>();
  for (const plan of written) {
    const there = identityAt(plan.target);
    const owner = there && inputs.get(there);
    const isAlone = results.get(plan.target) === 1 && !alike.has(plan.target);
    if (isAlone && (owner === undefined || owner === plan)) continue;
    conflicts.set(plan, signingErrors('output-conflict', { target: plan.output }));
  }
  return conflicts;
}

function identityAt(path: string): string | undefined {
  try {
    return identityOf(statSync(path, { bigint: true }));
  } catch {
    return undefined;
  }
}
