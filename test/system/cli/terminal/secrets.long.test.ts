/** A broad run of commands, good ones and failing ones: `runCli` searches all that each of them prints and leaves for the credentials. */

import { appendFile, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { mustHoldNoCredentials } from '../../../support/credential-watch.ts';
import { fixture, runCli, temporaryFolder } from '../../../support/programs/cli.ts';
import { NO_AUTHORITY } from '../../../support/runs/resume-scene.ts';
import { type ServiceMode, startMisbehavingService } from '../../../support/services/misbehaving-service.ts';
import { startProxy } from '../../../support/services/proxy.ts';
import { startServer } from '../../../support/services/server.ts';
import { forAll } from '../../../support/set-up.ts';

const server = await forAll(
  startServer({ bits: 2048, tsa: true, args: ['--tls-name', 'service.test', '--log-level', 'trace'] }),
);

type Env = Readonly<Record<string, string>>;

/** Services that do what they can to have the credentials shown. */
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
  let runs = 0;
  const run = async (name: string, args: readonly string[], more: Env = {}, stdin = ''): Promise<number | null> => {
    runs += 1;
    const run = runCli(args, { env: { ...env, ...more }, cwd: work, stdin });
    const { code } = await run.catch((cause: unknown) => {
      throw new Error(name, { cause });
    });
    return code;
  };
  let count = 0;
  const program = async (): Promise<string> => {
    count += 1;
    const path = join(work, `app-${count}.exe`);
    await copyFile(fixture('pe/hello.exe'), path);
    await appendFile(path, path);
    return path;
  };
  const sign = async (name: string, args: readonly string[] = [], more: Env = {}) =>
    run(`sign: ${name}`, ['sign', '--verbose', '--timeout', '2', ...args, await program()], more);
  const inUrl = (address: string) => address.replace('://', `://${accessKey}:${encodeURIComponent(accessSecret)}@`);

  expect(await sign('good')).toBe(0);
  expect(await sign('good, as a document', ['--json'])).toBe(0);
  expect(await sign('dry run', ['--dry-run'])).toBe(0);
  expect(await sign('no journal', ['--no-journal', '--file-name', 'hide'])).toBe(0);
  expect(await sign('no authority', NO_AUTHORITY)).toBe(7);
  expect(await sign('other code', ['--code', '999'])).toBe(4);
  expect(await sign('wrong key', [], { CODESIGN_ACCESS_KEY: `${accessKey}x` })).not.toBe(0);
  expect(await sign('no service', ['--base-url', 'https://127.0.0.1:9'])).toBe(3);
  expect(await sign('untrusted', [], { CODESIGN_CA_FILE: '' })).toBe(3);
  expect(await sign('key with the secret', [], { CODESIGN_ACCESS_KEY: `${accessKey}:${accessSecret}` })).toBe(2);
  expect(await sign('secret on two lines', [], { CODESIGN_ACCESS_SECRET: `${accessSecret}\n${accessSecret}` })).toBe(2);
  for (const option of ['--base-url', '--proxy', '--timestamp-url']) {
    expect(await sign(`credentials in ${option}`, [option, inUrl('https://service.test')])).toBe(2);
  }
  for (const variable of ['CODESIGN_BASE_URL', 'CODESIGN_TIMESTAMP_URL']) {
    expect(await sign(`credentials in ${variable}`, [], { [variable]: inUrl('https://service.test') })).toBe(2);
  }
  expect(await sign('unknown option', [`--access-secret=${accessSecret}`])).toBe(2);

  for (const mode of HARMFUL) {
    const service = await startMisbehavingService(mode);
    const more = { CODESIGN_BASE_URL: service.baseUrl, CODESIGN_CA_FILE: service.caFile };
    expect(await sign(mode, ['--no-timestamp'], more)).not.toBe(0);
    expect(await run(`whoami: ${mode}`, ['whoami', '--check', '--verbose'], more)).toBeTypeOf('number');
    await service.stop();
  }

  await using proxy = await startProxy({ credentials: `${accessKey}:${accessSecret}` });
  const throughProxy = { CODESIGN_BASE_URL: server.baseUrl.replace('127.0.0.1', 'service.test') };
  const more = { ...throughProxy, HTTPS_PROXY: inUrl(proxy.url) };
  expect(await sign('through a proxy with these very credentials', [], more)).toBe(0);
  expect(
    await sign('proxy, wrong credentials', [], { ...more, HTTPS_PROXY: `${inUrl(proxy.url)}`.replace(accessKey, 'x') }),
  ).toBe(3);
  expect(await sign('proxy, a bad address', [], { ...more, HTTPS_PROXY: inUrl('socks5://127.0.0.1:1') })).toBe(2);

  expect(await run('whoami', ['whoami', '--check', '--json'])).toBe(0);
  await run(
    'login',
    ['login', '--access-key', accessKey, '--verbose'],
    { CODESIGN_ACCESS_KEY: '', CODESIGN_ACCESS_SECRET: '' },
    `${accessSecret}\n`,
  );
  await run('logout', ['logout']);
  const stored = [
    'init',
    '--yes',
    '--base-url',
    server.baseUrl,
    '--code',
    server.env.CODESIGN_CODE ?? '',
    '--no-timestamp',
  ];
  expect(await run('init', [...stored, '--certificate', server.env.CODESIGN_CERTIFICATE ?? ''])).toBe(0);
  for (const [key, value] of [
    ['accessSecret', accessSecret],
    ['baseUrl', inUrl(server.baseUrl)],
    ['proxy', inUrl(proxy.url)],
  ] as const) {
    expect(await run(`config set ${key}`, ['config', 'set', key, value])).toBe(2);
  }
  expect(await run('config list', ['config', 'list', '--json'])).toBe(0);
  const file = join(work, 'with-credentials', 'codesign-remote.config.json');
  await mkdir(join(work, 'with-credentials'));
  for (const text of [`{"accessSecret": ${JSON.stringify(accessSecret)}}`, `{"description": "x", ${accessSecret}`]) {
    await writeFile(file, text);
    expect(await runCli(['sign', 'x.exe'], { env, cwd: join(work, 'with-credentials') })).toMatchObject({ code: 2 });
  }

  for (const args of [
    ['history'],
    ['history', '--json'],
    ['resume', '--dry-run', '--json'],
    ['resume', '--verbose', '--no-timestamp'],
  ]) {
    expect(await run(args.join(' '), args)).toBeTypeOf('number');
  }
  expect(await run('verify', ['verify', '--integrity-only', '--json', join(work, 'app-1.exe')])).toBe(0);
  expect(await run('inspect', ['inspect', join(work, 'app-1.exe')])).toBe(0);

  await mustHoldNoCredentials({ 'the log of the server': server.log() }, [work, server.data]);
  expect(runs).toBeGreaterThan(50);
}, 300_000);
