/** A process that stood still while the network forgot its connections uses none of them again. */

import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { asSoonAs } from '../../../support/children.ts';
import { startTcpRelay } from '../../../support/network/tcp-relay.ts';
import { fixture, parseJson, runCli } from '../../../support/programs/cli.ts';
import { reports, startScene } from '../../../support/runs/resume-scene.ts';

it('takes the answer that came before, and makes its next requests on new connections', async () => {
  await using scene = await startScene('good', { milliseconds: 300 });
  const { env, path, folder, service } = scene;
  const other = join(folder, 'other.jar');
  await copyFile(fixture('jar/plain.jar'), other);
  await using relay = await startTcpRelay({ port: Number(new URL(service.baseUrl).port) });
  const run = await runCli(['sign', '--json', '-j', '1', '--timeout', '600', '--no-timestamp', path, other], {
    env: { ...env, CODESIGN_BASE_URL: `https://127.0.0.1:${relay.port}` },
    onStart(kill) {
      const stop = () => {
        kill('SIGSTOP');
        // The answer arrives in the meantime, and waits until it is read.
        setTimeout(relay.forget, 1000);
        setTimeout(kill, 3500, 'SIGCONT');
      };
      asSoonAs(() => service.signRequests() > 0, stop);
    },
  });
  expect(parseJson(run).summary).toMatchObject({ signed: 2, failed: 0 });
  expect([run.code, service.signRequests(), reports(scene)]).toEqual([0, 2, [1, 1]]);
});
