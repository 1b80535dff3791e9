/** An interruption waits for a requested signature alone: what else hangs is left to the next run, which pays for nothing again. */

import { readdirSync, statSync } from 'node:fs';
import { truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { asSoonAs } from '../../../support/children.ts';
import { startTcpRelay } from '../../../support/network/tcp-relay.ts';
import { type CliRun, parseJson, runCli } from '../../../support/programs/cli.ts';
import { reports, type Scene, startScene } from '../../../support/runs/resume-scene.ts';
import { type AuthorityMode, startTimestampAuthority } from '../../../support/services/timestamp-authority.ts';
import { forAll } from '../../../support/set-up.ts';

/** Longer than a test may take: a run that waits for an answer fails. */
const PATIENTLY = ['--timeout', '600'];

const authority = await forAll(startTimestampAuthority());

function signUntil(isTime: () => boolean, { env, path }: Scene, args: readonly string[], more = {}): Promise<CliRun> {
  return runCli(['sign', '--json', ...PATIENTLY, ...args, path], {
    env: { ...env, ...more },
    onStart: (kill) => asSoonAs(isTime, kill, 'SIGINT'),
  });
}

function outcomeOf(run: CliRun): readonly unknown[] {
  const [file] = parseJson(run).files;
  return [run.code, file?.error?.code ?? file?.status];
}

it('leaves a report to the next run', async () => {
  await using scene = await startScene('hangs', { operation: 'report-sign', times: 1 });
  const run = await signUntil(() => reports(scene).length > 0, scene, ['--no-timestamp']);
  expect(outcomeOf(run)).toEqual([130, 'signed']);
  expect(run.stderr).toContain('the report did not arrive: the run was interrupted before report-sign was answered');
  expect(await scene.resume()).toMatchObject({ code: 0, calls: [{ kind: 'unreported', status: 'finished' }] });
  expect([scene.service.signRequests(), reports(scene)]).toEqual([1, [1, 1]]);
});

it.each<AuthorityMode>(['hang', 'throttled'])(
  'leaves a timestamp to the next run: the authority is in mode %s',
  async (mode) => {
    await using scene = await startScene('good');
    const asked = (): number => authority.requests.filter((request) => request.mode === mode).length;
    const run = await signUntil(() => asked() > 0, scene, ['-t', authority.urlOf(mode)]);
    expect(outcomeOf(run)).toEqual([130, 'timestamp-interrupted']);
    expect(asked()).toBe(1);
    expect((await scene.sign('-t', authority.url, scene.path)).code).toBe(0);
    expect([scene.service.signRequests(), reports(scene)]).toEqual([1, [1]]);
  },
);

it('waits for a timestamp if no journal keeps the signature', async () => {
  await using scene = await startScene('good');
  const asked = (): number => authority.requests.filter(({ mode }) => mode === 'slow').length;
  const run = await signUntil(() => asked() > 0, scene, ['-t', authority.urlOf('slow'), '--no-journal']);
  expect(outcomeOf(run)).toEqual([130, 'signed']);
  expect(reports(scene)).toEqual([1]);
});

// The connection would be waited for for ten seconds.
it('abandons a connection that does not open, and requests nothing on it', async () => {
  await using scene = await startScene('by-file-name', {
    times: 1,
    byName: {
      app({ response }) {
        relay.silence();
        response.writeHead(429, { 'retry-after': '0', connection: 'close' }).end();
      },
    },
  });
  await using relay = await startTcpRelay({ port: Number(new URL(scene.service.baseUrl).port) });
  const opened = relay.connections;
  let before: number | undefined;
  let interrupted = 0;
  const isConnecting = (): boolean => {
    if (scene.service.signRequests() === 1) before ??= opened();
    interrupted = performance.now();
    return before !== undefined && opened() > before;
  };
  const through = { CODESIGN_BASE_URL: `https://127.0.0.1:${relay.port}` };
  const run = await signUntil(isConnecting, scene, ['--no-timestamp'], through);
  // A connection may take ten seconds.
  expect(performance.now() - interrupted).toBeLessThan(9_000);
  expect(outcomeOf(run)).toEqual([130, 'not-attempted']);
  expect(scene.service.signRequests()).toBe(1);
  expect((await scene.sign('--no-timestamp', scene.path)).code).toBe(0);
  expect(scene.service.signRequests()).toBe(2);
});

it('reads a large file no further, and requests nothing for it', async () => {
  await using scene = await startScene('good');
  const { folder, path, service } = scene;
  const size = 2 ** 31;
  await truncate(path, size);
  let copied = 0;
  const isCopying = (): boolean => {
    const name = readdirSync(folder).find((one) => one.endsWith('.tmp'));
    if (name !== undefined) copied = statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? copied;
    return copied > 0;
  };
  const watch = setInterval(isCopying, 10);
  const run = await signUntil(isCopying, scene, ['--no-timestamp']);
  clearInterval(watch);
  expect(outcomeOf(run)).toEqual([130, 'not-attempted']);
  expect(copied).toBeLessThan(size);
  expect([service.signRequests(), statSync(path).size]).toEqual([0, size]);
});
