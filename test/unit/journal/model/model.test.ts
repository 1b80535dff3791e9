/**
 * All orders in which the steps of several processes can follow each other, over the journal's own transactions, with processes
 * that are killed, interrupted or taken for gone at any moment: nothing is paid twice without a warning, no signature and no
 * report is lost, and nothing waits for ever.
 */

import { expect, it } from 'vitest';
import { explore } from './explore.ts';
import { modelOf } from './processes.ts';
import { SCENARIOS } from './scenarios.ts';
import { worldOf } from './world.ts';

it.each(SCENARIOS)('$name', ({ players, budget }) => {
  const { states, isComplete } = explore(modelOf(worldOf(players, budget)));
  expect(isComplete).toBe(true);
  expect(states).toBeGreaterThan(500);
});
