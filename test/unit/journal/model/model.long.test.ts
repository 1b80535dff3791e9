/**
 * As model.test.ts, with more that may go wrong.
 */

import { expect, it } from 'vitest';
import { explore } from './explore.ts';
import { modelOf } from './processes.ts';
import { WIDE } from './scenarios.ts';
import { worldOf } from './world.ts';

it.each(WIDE)('$name', ({ players, budget }) => {
  const { states, isComplete } = explore(modelOf(worldOf(players, budget)));
  expect(isComplete).toBe(true);
  expect(states).toBeGreaterThan(500);
});
