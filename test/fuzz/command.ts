/** `npm run fuzz -- --cases 5000000 --target pe --seed 1`: a campaign as long as one likes. */

import { parseArgs } from 'node:util';
import { describeFaults, runCampaign } from './campaign.ts';
import { TARGETS } from './targets.ts';

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: process.env.CODESIGN_FUZZ_CASES ?? '200000' },
    seed: { type: 'string', default: process.env.CODESIGN_FUZZ_SEED ?? String(Date.now() % 2 ** 32) },
    target: { type: 'string', multiple: true },
    // One case alone, which is written whatever comes of it.
    case: { type: 'string' },
    words: { type: 'boolean', default: false },
  },
});
const named = values.target ?? process.env.CODESIGN_FUZZ_TARGET?.split(',');
const targets = named ?? Object.keys(TARGETS);
for (const target of targets) {
  if (TARGETS[target] === undefined) throw new RangeError(`--target is one of ${Object.keys(TARGETS).join(', ')}`);
}
const seed = Number(values.seed);
const say = (line: string): void => console.log(line);
say(`seed ${seed}`);
const corpus = process.env.CODESIGN_TEST_CORPUS;
const only = values.case === undefined ? undefined : Number(values.case);
const started = performance.now();
const campaign = await runCampaign({ seed, cases: Number(values.cases), targets, corpus, only, onJob: say });
if (values.words) say(JSON.stringify(campaign.words, undefined, 2));
const seconds = Math.round((performance.now() - started) / 1000);
say(`${campaign.done} cases in ${seconds} s, ${campaign.faults.length} faulty`);
if (campaign.faults.length > 0) {
  say(describeFaults(campaign, seed));
  process.exitCode = 1;
} else if (only !== undefined) {
  say(`written to ${campaign.folder}`);
} else {
  await campaign[Symbol.asyncDispose]();
}
