/** As model.test.ts, with more that may go wrong: all states up to a number of steps that is the same in each run. */

import { expect, it } from 'vitest';
import { isInSample } from '../../../support/sample.ts';
import { explore } from './explore.ts';
import { modelOf } from './processes.ts';
import { WIDE } from './scenarios.ts';
import { worldOf } from './world.ts';

/** Some scenarios have millions of states. */
const MOST_STATES = 6000;

it.each(WIDE.filter((_, index) => isInSample(index)))('$name', ({ players, budget }) => {
  const { states, isComplete } = explore(modelOf(worldOf(players, budget)), MOST_STATES);
  expect(isComplete || states > MOST_STATES).toBe(true);
  expect(states).toBeGreaterThan(150);
});
