import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { fixture, parseJson, runCli } from '../support/programs/cli.ts';
import {
  builtProgram,
  installed,
  runWindowsCli,
  runWindowsNode,
  runWindowsProgram,
  windowsPath,
  windowsVariables,
} from '../support/programs/windows.ts';
import { startMisbehavingService } from '../support/services/misbehaving-service.ts';
import { startProxy } from '../support/services/proxy.ts';
import { startServer } from '../support/services/server.ts';
import { folderForEach, forAll } from '../support/set-up.ts';
import { copyProgram, expectSigned } from './programs.ts';

const server = await forAll(startServer());
const folder = folderForEach();
const env = windowsVariables(server.env);
const root = server.roots;

const PROGRAM = () => windowsPath(installed('bin', 'codesign-remote.js'));

it('keeps profiles below APPDATA, and journal and cache below LOCALAPPDATA', async () => {
  await copyProgram(folder.at('app.exe'));
  const [roaming, local] = ['Roaming', 'Local'].map((name) => folder.at(name)) as [string, string];
  const variables = JSON.stringify({ APPDATA: windowsPath(roaming), LOCALAPPDATA: windowsPath(local) });
  const through = [windowsPath(join(import.meta.dirname, 'with-variables.cjs')), variables, PROGRAM()];
  const options = { env, cwd: folder.path };
  const stored = await runWindowsNode([...through, 'config', 'set', 'algorithm', 'SHA384'], options);
  expect(stored.code, stored.stderr).toBe(0);
  const signed = await runWindowsNode([...through, 'sign', '--no-timestamp', '--json', 'app.exe'], options);
  expect(parseJson(signed).files[0]).toMatchObject({ status: 'signed', algorithm: 'SHA384' });
  await expectSigned(root, folder.at('app.exe'));
  expect(await readdir(join(roaming, 'codesign-remote'))).toEqual(['config.json']);
  expect(await readdir(join(local, 'codesign-remote'))).toEqual(expect.arrayContaining(['journal.db']));
  const history = await runWindowsNode([...through, 'history', '--json'], options);
  expect(JSON.parse(history.stdout).calls).toHaveLength(1);
});

it.each(['HTTPS_PROXY', 'Https_Proxy'])('sends its calls through the proxy of %s', async (name) => {
  await using proxy = await startProxy();
  const service = await startMisbehavingService('hangs', { name: 'service.example' });
  try {
    const run = await runWindowsCli(['whoami', '--check', '--timeout', '1'], {
      cwd: folder.path,
      env: {
        [name]: proxy.url,
        CODESIGN_BASE_URL: service.baseUrl,
        CODESIGN_CA_FILE: windowsPath(service.caFile),
        CODESIGN_ACCESS_KEY: 'windows-key',
        CODESIGN_ACCESS_SECRET: 'windows-secret-7f3a9c',
      },
    });
    expect(proxy.asked, run.stderr).toEqual([`CONNECT ${new URL(service.baseUrl).host}`]);
    expect(run.code).toBe(3);
  } finally {
    await service.stop();
  }
});

it('verifies by the roots of the Windows certificate store', async () => {
  const app = folder.at('app.exe');
  expect((await runCli(['sign', '--no-timestamp', '-o', app, fixture('pe/hello.exe')], { env: server.env })).code).toBe(
    0,
  );
  const store = (action: string) =>
    runWindowsProgram(builtProgram('root-store.exe'), [action, windowsPath(folder.at('root.der'))]);
  await promisify(execFile)('openssl', ['x509', '-in', root, '-outform', 'DER', '-out', folder.at('root.der')]);
  const verify = () => runWindowsCli(['verify', '--json', windowsPath(app)]);
  expect((await verify()).code).toBe(8);
  expect((await store('add')).code).toBe(0);
  try {
    const run = await verify();
    expect(run.code, run.stdout).toBe(0);
  } finally {
    expect((await store('remove')).code).toBe(0);
  }
});

it('stores credentials in the Credential Manager, signs with them, and removes them', async () => {
  await copyProgram(folder.at('app.exe'));
  const { CODESIGN_ACCESS_KEY: key = '', CODESIGN_ACCESS_SECRET: secret = '', ...others } = env;
  const config = { CODESIGN_CONFIG_DIR: windowsPath(folder.at('config')) };
  const run = (args: readonly string[], stdin?: string) =>
    runWindowsCli(args, { env: { ...others, ...config }, cwd: folder.path, ...(stdin === undefined ? {} : { stdin }) });
  const missing = await run(['whoami']);
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('credentials-missing')]);
  const login = await run(['login', '--access-key', key], `${secret}\r\n`);
  expect(login.code, login.stderr).toBe(0);
  expect((await run(['whoami', '--check'])).code).toBe(0);
  const signed = await run(['sign', '--no-timestamp', 'app.exe']);
  expect(signed.code, signed.stderr).toBe(0);
  await expectSigned(root, folder.at('app.exe'));
  expect((await run(['logout'])).code).toBe(0);
  expect((await run(['whoami'])).code).toBe(2);
  // To remove what is not there is no error, as on the other systems.
  expect((await run(['logout'])).code).toBe(0);
});
