/** Limits the processor time for a hostile file. */

export interface Work {
  /** A unit of work takes at most 0.3 ms on a machine from 2020. A check with the slowest type of key takes 3 ms. */
  readonly units: number;
  readonly reserve: number;
}

/** A search for issuers must leave enough of the budget to check signature values. */
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

/** Once work of one kind has been rejected, all later work of that kind is rejected too. */
export function createWorkBudget(limit = LIMIT) {
  let left = limit;
  let refused = Number.POSITIVE_INFINITY;
  return {
    /** Returns false if the budget is spent: the caller must then skip the work. */
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
