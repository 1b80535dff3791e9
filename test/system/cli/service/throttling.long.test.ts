/** The waits that a throttling service requests, as the whole program keeps and prints them. All kinds, by an injected clock: test/unit/service/repeats.test.ts. */

import { expect, it } from 'vitest';
import { startScene } from '../../../support/runs/resume-scene.ts';
import type { MisbehaviourName } from '../../../support/services/misbehaving-answers.ts';

it.concurrent.each<[MisbehaviourName, number, number]>([
  ['throttled', 0.2, 2],
  ['throttled-for-no-time', 0, 2],
  ['throttled-for-seconds', 7, 9],
])('%s: asked again after %d to %d seconds, and signed', async (mode, least, most) => {
  await using stage = await startScene(mode, { times: 1 });
  const run = await stage.sign('--no-timestamp', '--no-report', stage.path);
  expect(run).toMatchObject({ code: 0 });
  const line = /^waiting {2}\d+ s before attempt 2 of 5: sign app\.exe: HTTP 429$/m;
  if (least > 5) expect(run.stderr).toMatch(line);
  else expect(run.stderr).toBe('');
  const [first = 0, second = 0, ...others] = stage.service.requests().map(({ at }) => at / 1000);
  expect(others).toEqual([]);
  expect(second - first).toBeGreaterThanOrEqual(least);
  expect(second - first).toBeLessThanOrEqual(most);
});
