/** One budget of processor time for everything that verification checks in one file, whatever the file holds. */

export interface Work {
  /** A unit is at most 0.3 ms on a machine of 2020: a check with the slowest kind of key takes 3 ms. */
  readonly units: number;
  /** How many units this kind of work must leave for the others. */
  readonly leaves: number;
}

/** A search for issuers that goes nowhere must not keep signature values from being checked. */
const FOR_SIGNATURE_VALUES = 1500;

export const WORK = {
  /** One check of a signature value, whatever its key. */
  signatureValue: { units: 10, leaves: 0 },
  /** Whether one certificate's key signed another one. */
  issuerSignature: { units: 10, leaves: FOR_SIGNATURE_VALUES },
  /** Checking the rules for one certification path. */
  path: { units: 10, leaves: FOR_SIGNATURE_VALUES },
  /** One certificate more in the search for a path. */
  pathStep: { units: 1, leaves: FOR_SIGNATURE_VALUES },
} as const satisfies Readonly<Record<string, Work>>;

/** Eight signatures with a timestamp each, and paths of four certificates, cost a quarter of this. */
const LIMIT = 4500;

/** Code of the findings that say what was left out. */
export const BUDGET_SPENT = 'work-budget-spent';

export type WorkBudget = ReturnType<typeof createWorkBudget>;

/** A new budget for one file. After work that does not fit, no more of its kind fits, even if it costs less. */
export function createWorkBudget(limit = LIMIT) {
  let left = limit;
  let refused = Number.POSITIVE_INFINITY;
  return {
    /** Takes what the next piece of work costs. False: the budget is spent, so the work must not be done. */
    take({ units, leaves }: Work): boolean {
      if (left - units < leaves) refused = Math.min(refused, leaves);
      if (leaves >= refused) return false;
      left -= units;
      return true;
    },
    get isSpent(): boolean {
      return refused !== Number.POSITIVE_INFINITY;
    },
  };
}
