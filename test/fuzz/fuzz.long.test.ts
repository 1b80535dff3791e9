/**
 * Two hundred thousand cases, the same ones each time (CODESIGN_FUZZ_SEED and CODESIGN_FUZZ_CASES for others): of each
 * thing that reads foreign bytes, a result that is right or an error with a code.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Campaign, describeFaults, runCampaign } from './campaign.ts';
import { MOST_MEBIBYTES } from './check-case.ts';
import { objectionTo } from './samples.ts';
import { TARGETS } from './targets.ts';

const SEED = Number(process.env.CODESIGN_FUZZ_SEED ?? 20261121);
const CASES = Number(process.env.CODESIGN_FUZZ_CASES ?? 200_000);
const SAMPLES = 24;
/** Of fewer cases of a target all may end the same way. */
const ENOUGH_CASES = 300;
const targets = process.env.CODESIGN_FUZZ_TARGET?.split(',') ?? Object.keys(TARGETS);

let campaign: Campaign;
beforeAll(
  async () => {
    const corpus = process.env.CODESIGN_TEST_CORPUS;
    campaign = await runCampaign({ seed: SEED, cases: CASES, targets, corpus, samples: SAMPLES });
    // If there are faults, the folder stays, because it contains the faulty files.
  },
  Math.max(1_800_000, CASES * 9),
);
afterAll(() => (campaign.faults.length > 0 ? undefined : campaign[Symbol.asyncDispose]()));

test(`${CASES} cases of seed ${SEED} reveal no fault`, () => {
  expect(describeFaults(campaign, SEED)).toBe('');
  expect(campaign.done).toBeGreaterThanOrEqual(CASES);
});

test.for(targets)('%s is neither always rejected nor never', (target, { skip }) => {
  const counts = Object.values(campaign.words[target] ?? {});
  expect(campaign.mebibytes[target]).toBeLessThan(MOST_MEBIBYTES);
  const cases = counts.reduce((sum, count) => sum + count, 0);
  skip(cases < ENOUGH_CASES, `it ran ${cases} cases`);
  expect(counts.length).toBeGreaterThan(1);
});

test.runIf(targets.some((target) => /^(pe|jar)$/.test(target)))(
  'signed results hold for osslsigncode and jarsigner, too',
  async () => {
    expect(campaign.sampled.length).toBeGreaterThan(0);
    for (const path of campaign.sampled) expect([path, await objectionTo(path)]).toEqual([path, undefined]);
  },
  300_000,
);
