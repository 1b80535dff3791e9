/** Secrets that a user puts in the wrong place: no message repeats them. */

import { expect, it } from 'vitest';
import { runCli } from '../../../support/programs/cli.ts';

const SECRET = 'hunter2hunter2';
const CREDENTIALS = { CODESIGN_ACCESS_KEY: 'a-key-of-a-test', CODESIGN_ACCESS_SECRET: 'another-secret' };

it.each<[args: readonly string[], env?: Readonly<Record<string, string>>]>([
  [['sign', '-p', SECRET, 'app.exe']],
  [['sign', 'app.exe'], { CODESIGN_PROFILE: SECRET }],
  [['-p', SECRET, 'config', 'list']],
  [['whoami', '-p', SECRET], CREDENTIALS],
  [['config', 'set', '-p', SECRET, 'code']],
  [['login', '-p', SECRET]],
  [['sign', '-e', SECRET, 'app.exe']],
  [['sign', `--token=${SECRET}`, 'app.exe']],
  [['sign', `--tolken=${SECRET}`, 'app.exe']],
  [[`--tolken=${SECRET}`, 'sign', 'app.exe']],
  [['--tolken', SECRET, 'sign', 'app.exe']],
  [['sign', '--token', SECRET]],
  [['sign', `-x${SECRET}`, 'app.exe']],
  [['whoami'], { CODESIGN_ACCESS_KEY: 'a-key-of-a-test', CODESIGN_ACCESS_SECRET_FILE: SECRET }],
  [['whoami', '--check', '--base-url', 'https://127.0.0.1:1'], { ...CREDENTIALS, CODESIGN_CA_FILE: SECRET }],
  [['sign', '--concurrency', SECRET, 'app.exe']],
  [['history'], { CODESIGN_HISTORY_DAYS: SECRET }],
  [['history', '--since', SECRET]],
  [['sign', 'app.exe'], { CODESIGN_REQUIRE_TIMESTAMP: SECRET }],
  [['sign', '-a', SECRET, 'app.exe']],
  [['sign', '--timestamp-policy', SECRET, 'app.exe']],
  [['sign', '--file-name', SECRET, 'app.exe']],
  [['sign', '--signer-name', `${SECRET}-too-long`, 'app.jar']],
  [['verify', '--algorithm-at-least', SECRET, 'app.exe']],
  [['verify', '--signer', Buffer.from(SECRET).toString('hex').padEnd(40, '0'), 'app.exe']],
  [['history', '--outcome', SECRET]],
  [['completion', SECRET]],
  [['init', '--yes', '--base-url', 'https://x.example', '--certificate', 'x', '--code', `${SECRET} ${SECRET}`]],
  [['config', 'list'], { CODESIGN_TIMESTAMP_URL: `http://timestamp.example/?token=${SECRET}` }],
  [['config', 'list', '--json'], { CODESIGN_TIMESTAMP_URL: `http://u:${SECRET}@timestamp.example/` }],
  [['sign', '-t', `ftp://timestamp.example/?token=${SECRET}`, 'app.exe']],
])('%j with %j', async (args, env = {}) => {
  const plain = args.join(' ');
  const { stdout, stderr } = await runCli(
    [...args, ...(plain.startsWith('config') || plain.startsWith('history') ? [] : ['--verbose'])],
    { env },
  );
  expect(`${stdout}${stderr}`).not.toContain(SECRET);
  expect(`${stdout}${stderr}`).not.toContain(Buffer.from(SECRET).toString('hex'));
  expect(`${stdout}${stderr}`).not.toBe('');
});
