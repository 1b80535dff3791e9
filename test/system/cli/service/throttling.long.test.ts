/**
 * The waits that a throttling service requests, as the whole program keeps and prints them. All kinds, by an injected clock:
 * test/unit/service/repeats.test.ts. And real proxies that throttle without naming a time.
 */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { REVERSE_PROXIES, startReverseProxy } from '../../../support/network/reverse-proxies.ts';
import { parseJson, runCliProcess } from '../../../support/programs/cli.ts';
import { makePrograms, startScene } from '../../../support/runs/resume-scene.ts';
import type { MisbehaviourName } from '../../../support/services/misbehaving-answers.ts';

it.concurrent.each<[MisbehaviourName, number]>([
  ['throttled', 0.2],
  ['throttled-for-seconds', 7],
])('%s: asked again after at least %d seconds, and signed', async (mode, least) => {
  await using stage = await startScene(mode, { times: 1 });
  const run = await stage.sign('--no-timestamp', '--no-report', stage.path);
  expect(run).toMatchObject({ code: 0 });
  const line = /^waiting {2}\d+ s before attempt 2 of 5: sign app\.exe: HTTP 429$/m;
  if (least > 5) expect(run.stderr).toMatch(line);
  else expect(run.stderr).toBe('');
  const [first = 0, second = 0, ...others] = stage.service.requests().map(({ at }) => at / 1000);
  expect(others).toEqual([]);
  expect(second - first).toBeGreaterThanOrEqual(least);
});

const PER_SECOND = 20;
const FILES = 100;

it.each(REVERSE_PROXIES)(
  '%s passes 20 requests on in a second, and rejects the others: all of 100 files are signed, each with one request',
  { timeout: 120_000 },
  async (name) => {
    await using scene = await startScene('good', { plain: true });
    const { folder, service, env } = scene;
    const paths = await makePrograms(folder, FILES);
    const to = Number(new URL(service.baseUrl).port);
    await using proxy = await startReverseProxy(name, to, { perSecond: PER_SECOND });
    const auditLog = join(folder, 'audit.jsonl');
    const run = await runCliProcess(
      ['sign', '--json', '--no-timestamp', '-j', '16', '--audit-log', auditLog, ...paths],
      { env: { ...env, CODESIGN_BASE_URL: `https://127.0.0.1:${proxy.port}`, CODESIGN_CA_FILE: proxy.caFile } },
    );
    expect(parseJson(run).summary).toMatchObject({ signed: FILES, failed: 0 });
    expect(service.signRequests()).toBe(FILES);
    // Or nothing was throttled.
    expect(await readFile(auditLog, 'utf8')).toContain('"httpStatus":429');
  },
);
