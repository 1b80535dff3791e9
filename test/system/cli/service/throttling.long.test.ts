/** The waits that a throttling service requests, as the whole program keeps them: in seconds, to a date, and no longer than a minute. */

import { expect, it } from 'vitest';
import { startScene } from '../../../support/runs/resume-scene.ts';
import type { MisbehaviourName } from '../../../support/services/misbehaving-answers.ts';

it.concurrent.each<[MisbehaviourName, number, number]>([
  ['throttled', 0.2, 2],
  ['unavailable-enveloped', 0.2, 2],
  ['throttled-in-nonsense', 0.2, 2],
  ['throttled-for-no-time', 0, 2],
  ['throttled-for-seconds', 7, 9],
  ['throttled-until-date', 18, 22],
  ['throttled-for-an-hour', 60, 62],
])('%s: asked again after %d to %d seconds, and signed', async (mode, least, most) => {
  await using stage = await startScene(mode, { times: 1 });
  const run = await stage.sign('--no-timestamp', '--no-report', stage.path);
  expect(run).toMatchObject({ code: 0 });
  const line = /^waiting {2}\d+ s before attempt 2 of 5: sign app\.exe: HTTP (?:429|503)$/m;
  if (least > 5) expect(run.stderr).toMatch(line);
  else expect(run.stderr).toBe('');
  const [first = 0, second = 0, ...others] = stage.service.requests().map(({ at }) => at / 1000);
  expect(others).toEqual([]);
  expect(second - first).toBeGreaterThanOrEqual(least);
  expect(second - first).toBeLessThanOrEqual(most);
});
