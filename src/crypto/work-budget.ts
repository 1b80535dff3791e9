/** Limits the processor time that verifying a hostile file can take. */

export interface Work {
  /**
   * A unit of work takes at most 0.3 ms on a machine from 2020. A signature check with the slowest type of key takes 3
   * ms.
   */
  readonly units: number;
  readonly reserve: number;
}

/** An unsuccessful search for issuers must leave enough budget to check signature values. */
const FOR_SIGNATURE_VALUES = 1500;

export const WORK = {
  signatureValue: { units: 10, reserve: 0 },
  issuerSignature: { units: 10, reserve: FOR_SIGNATURE_VALUES },
  path: { units: 10, reserve: FOR_SIGNATURE_VALUES },
  pathStep: { units: 1, reserve: FOR_SIGNATURE_VALUES },
} as const satisfies Readonly<Record<string, Work>>;

/** Eight signatures, each with a timestamp and a path of four certificates, need a quarter of this limit. */
const LIMIT = 4500;

export const BUDGET_SPENT = 'work-budget-spent';

export type WorkBudget = ReturnType<typeof createWorkBudget>;

/**
 * Creates the work budget for verifying one file. After work of one kind is rejected, all later work of that kind is
 * rejected, even if it costs less.
 */
export function createWorkBudget(limit = LIMIT) {
  let left = limit;
  let refused = Number.POSITIVE_INFINITY;
  return {
    /**
     * Charges the next piece of work to the budget. Returns false if the budget is spent. The caller must then skip the
     * work.
     */
    take({ units, reserve }: Work): boolean {
      if (left - units < reserve) refused = Math.min(refused, reserve);
      if (reserve >= refused) return false;
      left -= units;
      return true;
    },
    get isSpent(): boolean {
      return refused !== Number.POSITIVE_INFINITY;
    },
  };
}
