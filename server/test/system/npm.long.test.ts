/** The server as users start it: through npm, which stands between it and the signals. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { listening } from '../../../test/support/services/server.ts';
import { copyData } from '../../../test/support/services/server-data.ts';
import { folderForEach } from '../../../test/support/set-up.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

const folder = folderForEach();
let npm: ChildProcess;
let log = '';
beforeEach(async () => {
  await copyData(folder.at('data'), 2048);
  const options = ['--data', folder.at('data'), '--port', '0', '--client-env', folder.at('client.env')];
  npm = spawn('npm', ['run', '--silent', 'server', '--', ...options], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  log = '';
  npm.stderr?.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
});
afterEach(async () => {
  npm.kill('SIGKILL');
});

/** The process id of the server, from its log. */
const serverId = () => Number(/"pid":(\d+)/.exec(log)?.[1]);

function isRunning(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch {
    return false;
  }
}

test.each<readonly [NodeJS.Signals, readonly unknown[]]>([
  ['SIGTERM', [0, null]], // gracefully
  ['SIGKILL', [null, 'SIGKILL']],
])(
  'the server does not keep running after %s to npm',
  async (signal, end) => {
    await listening(npm, () => log);
    expect(isRunning(serverId())).toBe(true);
    const ended = once(npm, 'exit');
    npm.kill(signal);
    expect(await ended).toEqual(end);
    if (signal === 'SIGKILL') await expect.poll(() => isRunning(serverId()), { timeout: 10_000 }).toBe(false);
    expect(isRunning(serverId())).toBe(false);
  },
  90_000,
);
