/** That faults are found: each kind of them, planted, with seed, number and the case itself. */

import { readFile } from 'node:fs/promises';
import { afterAll, expect, test } from 'vitest';
import { describeFaults, runCampaign } from './campaign.ts';
import { FAULTY_TARGETS } from './targets/planted.ts';

const SEED = 5;
/** Each faulty case of these takes seconds: a few are enough. */
const [SLOW, HANGING] = ['planted-slow', 'planted-hang'];
const others = Object.keys(FAULTY_TARGETS).filter((target) => target !== SLOW && target !== HANGING);
/** This process starts those that run the cases. Its memory must not count as theirs. */
const held = Buffer.alloc(300 * 1024 * 1024, 1);
const campaigns = [
  await runCampaign({ seed: SEED, cases: others.length * 8, targets: others }),
  // The limit of time by the clock is this high, so that even a busy machine reaches the limit of processor time first.
  await runCampaign({ seed: SEED, cases: 6, targets: [SLOW], patience: 200 }),
  await runCampaign({ seed: SEED, cases: 6, targets: [HANGING], patience: 2 }),
];
afterAll(async () => {
  for (const campaign of campaigns) await campaign[Symbol.asyncDispose]();
});

test.each([
  ['planted-throw', /^TypeError: planted/],
  ['planted-internal', /^CodesignError: planted/],
  ['planted-code', /an error whose code is in no table: planted/],
  ['planted-change', /the input was changed/],
  [SLOW, /more than 2 s of processor time/],
  ['planted-memory', /more than 200 MiB of memory/],
  [HANGING, /no end within 2 s/],
])('%s', async (target, fault) => {
  expect(held.length).toBeGreaterThan(0);
  const campaign = campaigns.find(({ faults }) => faults.some((one) => one.target === target));
  const found = campaign?.faults.find((one) => one.target === target);
  expect(found?.fault).toMatch(fault);
  expect((await readFile(found?.file ?? ''))[0]).toBe(0);
  expect(campaign && describeFaults(campaign, SEED)).toContain(`${target}, seed ${SEED}, case ${found?.case}`);
});
