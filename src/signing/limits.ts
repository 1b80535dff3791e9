/** How many signatures a run may ask for: by its own limit, and by what is left of the month's budget. */

import { signingErrors } from './errors.ts';
import type { Judgement } from './plan-files.ts';
import type { Signing } from './signing.ts';

/**
 * Throws `too-many-signatures`, `budget-exceeded`. That files share a signature, or have one in the journal, shows only
 * later. The history is read for a budget alone: it may be long.
 */
export async function requireWithinLimits(judgements: readonly Judgement[], signing: Signing): Promise<void> {
  const { maxSignatures, monthlyBudget, dryRun, claims, now, origin, code } = signing;
  const count = judgements.filter((judgement) => 'plan' in judgement && !judgement.plan.alreadySigned).length;
  if (maxSignatures !== undefined && count > maxSignatures) {
    throw signingErrors('too-many-signatures', { count, limit: maxSignatures });
  }
  if (monthlyBudget === undefined || count === 0 || dryRun || code === undefined) return;
  const month = now().toISOString().slice(0, 7);
  const used = await claims.counted({ month, origin, code });
  if (used + count > monthlyBudget) throw signingErrors('budget-exceeded', { used, count, budget: monthlyBudget });
}
