/** Connections are few, open in time and used again: to the service, and to the timestamp authority. */

import { expect, it, onTestFinished } from 'vitest';
import { startTcpRelay } from '../../../support/network/tcp-relay.ts';
import { parseJson, runCli } from '../../../support/programs/cli.ts';
import { makePrograms, startScene } from '../../../support/runs/resume-scene.ts';
import { startTimestampAuthority } from '../../../support/services/timestamp-authority.ts';

/** A good service, and so many programs to be signed. */
async function startPrograms(count: number) {
  const scene = await startScene('good');
  return { ...scene, paths: await makePrograms(scene.folder, count) };
}

it('20 files, with reports and timestamps, take few connections', { timeout: 60_000 }, async () => {
  await using scene = await startPrograms(20);
  const { service, env, paths } = scene;
  const authority = await startTimestampAuthority();
  onTestFinished(() => authority.stop());
  const run = await runCli(['sign', '--json', '-j', '4', '-t', authority.urlOf('ok'), ...paths], { env });
  expect(parseJson(run).summary).toMatchObject({ signed: 20, failed: 0 });
  expect(service.requests()).toHaveLength(40);
  // The program sends as many reports as signature requests, and asks the authority for two files at the same time. It does
  // not reuse a connection that was idle for 0.8 s, so on a busy machine there may be a few more.
  expect(service.connections()).toBeLessThanOrEqual(12);
  expect(authority.requests).toHaveLength(20);
  expect(authority.connections()).toBeLessThanOrEqual(4);
});

it('16 files take at most 6 round trips: 2 for the connections, then the first signature, the others, and the reports', async () => {
  await using scene = await startPrograms(16);
  const { service, env, paths } = scene;
  await using relay = await startTcpRelay({ port: Number(new URL(service.baseUrl).port), gatherMilliseconds: 300 });
  const through = { ...env, CODESIGN_BASE_URL: `https://127.0.0.1:${relay.port}` };
  const run = await runCli(['sign', '--json', '-j', '16', '--no-timestamp', ...paths], { env: through });
  expect(parseJson(run).summary).toMatchObject({ signed: 16, failed: 0 });
  expect(service.requests()).toHaveLength(32);
  expect(relay.roundTrips()).toBeLessThanOrEqual(6);
});
