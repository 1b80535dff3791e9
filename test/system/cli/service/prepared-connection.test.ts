/** The connection that is opened ahead of need: to no service that will not be called, and it keeps no one waiting. */

import net from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listen } from '../../../support/network/listen.ts';
import { fixture, runCli, temporaryFolder } from '../../../support/programs/cli.ts';
import { useServer } from '../../../support/services/shared-server.ts';
import { forAll, forEach } from '../../../support/set-up.ts';

const service = await forAll(useServer({ bits: 2048 }));

// It says nothing: a handshake with it has no end.
const lifetimes: number[] = [];
const server = forEach(() =>
  listen(
    net.createServer((socket) => {
      const opened = performance.now();
      socket.resume().on('close', () => lifetimes.push(performance.now() - opened));
    }),
  ),
);

async function sign(file: string, more: Record<string, string>, ...options: string[]) {
  await using folder = await temporaryFolder();
  const args = ['sign', '--json', '--no-timestamp', '-o', join(folder.path, 'out.exe'), file];
  return await runCli([...args, ...options], {
    env: { ...service.env, CODESIGN_BASE_URL: `https://127.0.0.1:${server.port}`, ...more },
  });
}

test('none is opened when the journal cannot be used, nor in a dry run', async () => {
  expect(await sign(fixture('pe/hello.exe'), { CODESIGN_HISTORY_DAYS: 'bogus' })).toMatchObject({ code: 2 });
  await sign(fixture('pe/hello.exe'), {}, '--dry-run');
  expect(server.connections()).toBe(0);
});

test('it is closed if nothing needs to be requested', async () => {
  const run = await sign(fixture('README.md'), {});
  expect(run.code).toBe(6);
  expect(server.connections()).toBe(1);
  await expect.poll(() => lifetimes).toHaveLength(1);
  // The handshake would be waited for for ten seconds.
  expect(lifetimes[0]).toBeLessThan(9_000);
});
