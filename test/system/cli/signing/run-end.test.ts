/** When a run counts as ended: until then, the same command requests and pays for nothing again, and appends nothing twice. */

import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { asSoonAs } from '../../../support/children.ts';
import { type CliOptions, fixture, runCli } from '../../../support/programs/cli.ts';
import { PRELOAD } from '../../../support/runs/killed-subjects.ts';
import { startScene } from '../../../support/runs/resume-scene.ts';

it('ends with exit code 0 only if it was not interrupted, its output was not lost, and its last action ran', async () => {
  await using scene = await startScene('good', { milliseconds: 300 });
  const { service, path: file, env } = scene;
  const append = (more: CliOptions = {}) =>
    runCli(['sign', '--append', '--no-timestamp', '--json', file], { ...more, env: { ...env, ...more.env } });
  const standing = async () => ({ requests: service.signRequests(), bytes: await readFile(file) });

  const interrupted = await append({
    onStart: (kill) => asSoonAs(() => service.signRequests() > 0, kill, 'SIGINT'),
  });
  expect(interrupted.code).toBe(130);
  const after = await standing();
  expect([after.requests, after.bytes.equals(await readFile(fixture('pe/hello.exe')))]).toEqual([1, false]);

  const unheard = await append({ through: ['bash', '-c', '"$0" "$@" > /dev/full'] });
  expect([unheard.code, await standing()]).toEqual([6, after]);

  const kill = { NODE_OPTIONS: `--require ${PRELOAD}`, CODESIGN_TEST_KILL_CALL: 'update runs set well' };
  const killed = await append({ env: kill });
  expect([killed.code, killed.stdout.endsWith('}\n'), await standing()]).toEqual([null, true, after]);

  expect([(await append()).code, await standing()]).toEqual([0, after]);
  // The earlier run has ended, so this is a new run.
  expect([(await append()).code, service.signRequests()]).toEqual([0, 2]);
});
