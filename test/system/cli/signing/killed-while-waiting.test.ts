/** A run that is killed while most of its requests still wait: `resume` lists only what was sent. */

import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { asSoonAs } from '../../../support/children.ts';
import { runCli } from '../../../support/programs/cli.ts';
import { makePrograms, startScene } from '../../../support/runs/resume-scene.ts';

const FILES = 50;

it('lists one call when one of 50 files was requested, and the others waited for a turn or a connection', async () => {
  // The second request is never answered, and no other gets a connection.
  await using scene = await startScene('hangs', { after: 1, mostConnections: 1 });
  const { service, env } = scene;
  const [proving = '', ...others] = await makePrograms(scene.folder, FILES + 1);
  const args = ['sign', '--no-timestamp', '--no-report', '--json'];
  expect((await runCli([...args, proving], { env })).code).toBe(0);

  const killed = await runCli([...args, '--concurrency', String(FILES), ...others], {
    env,
    onStart: (kill) => asSoonAs(() => service.signRequests() >= 2, kill, 'SIGKILL'),
  });
  expect([killed.code, service.signRequests()]).toEqual([null, 2]);

  expect((await scene.resume(['--dry-run'])).calls.map(({ kind }) => kind)).toEqual(['unknown']);
  for (const path of others) expect((await readFile(path)).subarray(-path.length).toString()).toBe(path);
});
