import { expect, it } from 'vitest';
import { createWorkBudget, WORK } from '../../../src/crypto/work-budget.ts';

const CHEAP = { units: 1, reserve: 0 };
const DEAR = { units: 10, reserve: 0 };

it('gives units until they are used up, and then none, even to work that would still fit', () => {
  const budget = createWorkBudget(25);
  expect([budget.take(DEAR), budget.take(DEAR), budget.isSpent]).toEqual([true, true, false]);
  expect([budget.take(DEAR), budget.isSpent, budget.take(CHEAP)]).toEqual([false, true, false]);
});

it('keeps units for signature values when a search for issuers has spent the rest', () => {
  const budget = createWorkBudget();
  let steps = 0;
  while (budget.take(WORK.pathStep)) steps += 1;
  expect([budget.isSpent, budget.take(WORK.issuerSignature), budget.take(WORK.path)]).toEqual([true, false, false]);
  let checks = 0;
  while (budget.take(WORK.signatureValue)) checks += 1;
  expect(checks).toBe(150);
  expect(steps).toBe(3000);
});
