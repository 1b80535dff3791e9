/** A service, a proxy and users that do what they can to have the credentials shown: `runCli` searches all that a run prints and leaves. */

import { appendFile, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { mustHoldNoCredentials } from '../../../support/credential-watch.ts';
import { fixture, runCli, temporaryFolder } from '../../../support/programs/cli.ts';
import { type ServiceMode, startMisbehavingService } from '../../../support/services/misbehaving-service.ts';
import { startProxy } from '../../../support/services/proxy.ts';
import { startServer } from '../../../support/services/server.ts';
import { forAll } from '../../../support/set-up.ts';

const server = await forAll(
  startServer({ bits: 2048, tsa: true, args: ['--tls-name', 'service.test', '--log-level', 'trace'] }),
);

type Env = Readonly<Record<string, string>>;

const HARMFUL: readonly ServiceMode[] = [
  'refused-echoing-authorization',
  'refused-echoing-encodings',
  'record-the-secret',
  'signature-the-secret',
  'unauthorized-401',
  'server-error-envelope',
  'redirect-302',
  'html',
  'breaks-during-head',
  'breaks-handshake',
  'no-tls',
  'signature-wrong',
  'throttled',
];

it('no file or output contains the secret or the Authorization header, in any form', async () => {
  await using folder = await temporaryFolder();
  const { CODESIGN_ACCESS_KEY: accessKey = '', CODESIGN_ACCESS_SECRET: accessSecret = '' } = server.env;
  const work = join(folder.path, 'work');
  await mkdir(work);
  const env: Env = {
    ...server.env,
    CODESIGN_STATE_DIR: join(work, 'state'),
    CODESIGN_CONFIG_DIR: join(work, 'config'),
    CODESIGN_AUDIT_LOG: join(work, 'audit.jsonl'),
    GITHUB_ACTIONS: 'true',
    GITHUB_STEP_SUMMARY: join(work, 'summary.md'),
    NODE_DEBUG: '',
  };
  const run = async (args: readonly string[], more: Env = {}): Promise<number | null> => {
    const { code } = await runCli(args, { env: { ...env, ...more }, cwd: work }).catch((cause: unknown) => {
      throw new Error(args.join(' '), { cause });
    });
    return code;
  };
  let count = 0;
  const sign = async (args: readonly string[] = [], more: Env = {}) => {
    count += 1;
    const path = join(work, `app-${count}.exe`);
    await copyFile(fixture('pe/hello.exe'), path);
    await appendFile(path, path);
    return run(['sign', '--verbose', '--timeout', '2', ...args, path], more);
  };
  const inUrl = (address: string) => address.replace('://', `://${accessKey}:${encodeURIComponent(accessSecret)}@`);

  expect(await sign()).toBe(0);
  expect(await sign(['--json', '--no-journal'])).toBe(0);
  expect(await sign([], { CODESIGN_ACCESS_KEY: `${accessKey}x` })).not.toBe(0);
  expect(await sign([], { CODESIGN_ACCESS_KEY: `${accessKey}:${accessSecret}` })).toBe(2);
  expect(await sign([], { CODESIGN_ACCESS_SECRET: `${accessSecret}\n${accessSecret}` })).toBe(2);
  for (const option of ['--base-url', '--proxy', '--timestamp-url'])
    expect(await sign([option, inUrl('https://service.test')])).toBe(2);
  for (const variable of ['CODESIGN_BASE_URL', 'CODESIGN_TIMESTAMP_URL'])
    expect(await sign([], { [variable]: inUrl('https://service.test') })).toBe(2);
  expect(await sign([`--access-secret=${accessSecret}`])).toBe(2);

  for (const mode of HARMFUL) {
    const service = await startMisbehavingService(mode);
    const more = { CODESIGN_BASE_URL: service.baseUrl, CODESIGN_CA_FILE: service.caFile };
    expect(await sign(['--no-timestamp'], more)).not.toBe(0);
    expect(await run(['whoami', '--check', '--verbose'], more)).toBeTypeOf('number');
    await service.stop();
  }

  await using proxy = await startProxy({ credentials: `${accessKey}:${accessSecret}` });
  const throughProxy = { CODESIGN_BASE_URL: server.baseUrl.replace('127.0.0.1', 'service.test') };
  const signThrough = (HTTPS_PROXY: string) => sign([], { ...throughProxy, HTTPS_PROXY });
  expect(await signThrough(inUrl(proxy.url))).toBe(0);
  expect(await signThrough(inUrl(proxy.url).replace(accessKey, 'x'))).toBe(3);
  expect(await signThrough(inUrl('socks5://127.0.0.1:1'))).toBe(2);

  for (const [key, value] of Object.entries({ accessSecret, baseUrl: inUrl(server.baseUrl), proxy: inUrl(proxy.url) }))
    expect(await run(['config', 'set', key, value])).toBe(2);
  const project = join(work, 'with-credentials');
  await mkdir(project);
  for (const text of [`{"accessSecret": ${JSON.stringify(accessSecret)}}`, `{"description": "x", ${accessSecret}`]) {
    await writeFile(join(project, 'codesign-remote.config.json'), text);
    expect(await runCli(['sign', 'x.exe'], { env, cwd: project })).toMatchObject({ code: 2 });
  }
  for (const args of [['history'], ['resume', '--dry-run', '--json'], ['resume', '--verbose', '--no-timestamp']])
    expect(await run(args)).toBeTypeOf('number');
  await mustHoldNoCredentials({ 'the log of the server': server.log() }, [work, server.data]);
}, 300_000);
