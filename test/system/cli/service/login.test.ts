/** `login`, `logout` and `whoami` with a real keyring and the real server. More: sessions/recorded/pipe/login.txt. */

import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type CliOptions, type CliRun, fixture, runCli, temporaryFolder } from '../../../support/programs/cli.ts';
import { startSecretService } from '../../../support/programs/secret-service.ts';
import { startMisbehavingService } from '../../../support/services/misbehaving-service.ts';
import { useServer } from '../../../support/services/shared-server.ts';
import { forAll } from '../../../support/set-up.ts';

const IS_LINUX = process.platform === 'linux';

const server = await forAll(useServer());
/** Unlocked. What leaves credentials in it uses a profile of its own, or logs out. */
const keyring = IS_LINUX ? await forAll(startSecretService()) : undefined;

const key = () => server.env.CODESIGN_ACCESS_KEY ?? '';
const secret = () => server.env.CODESIGN_ACCESS_SECRET ?? '';

/** A folder of its own, with a keyring, and nothing but the server's roots and a profile in the environment. */
async function scene(profile?: string, used = keyring) {
  const folder = await temporaryFolder();
  const env = {
    ...used?.env,
    ...(profile !== undefined && { CODESIGN_PROFILE: profile }),
    CODESIGN_CA_FILE: server.caFile,
    CODESIGN_STATE_DIR: join(folder.path, 'state'),
    CODESIGN_CONFIG_DIR: join(folder.path, 'config'),
  };
  const run = (args: readonly string[], more: CliOptions = {}) =>
    runCli(args, { cwd: folder.path, ...more, env: { ...env, ...more.env } });
  return {
    folder: folder.path,
    env,
    run,
    login: (args: readonly string[] = [], more: CliOptions = {}) =>
      run(['login', '--base-url', server.baseUrl, '--access-key', key(), ...args], { stdin: `${secret()}\n`, ...more }),
    async settings(): Promise<readonly object[]> {
      const list = await run(['config', 'list', '--json'], { env: { CODESIGN_CA_FILE: '' } });
      return JSON.parse(list.stdout).settings;
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

const errorCode = (run: CliRun) => /\[([a-z-]+)\]$/m.exec(run.stderr)?.[1];

describe.runIf(IS_LINUX)('login', () => {
  it('stores nothing without an answer, unless it must not ask', async () => {
    await using at = await scene();
    const service = await startMisbehavingService('hangs');
    onTestFinished(() => service.stop());
    const args = ['--base-url', service.baseUrl, '--ca-file', service.caFile, '--access-key', 'some-key'];
    const asked = ['login', ...args, '--store', 'file', '--timeout', '0.5'];
    const login = await at.run(asked, { stdin: 'some-secret' });
    expect([login.code, errorCode(login)]).toEqual([3, 'check-unanswered']);
    expect(login.stderr).toContain('--no-check');
    expect(errorCode(await at.run(['whoami']))).toBe('credentials-missing');
    const calls = service.requests().length;
    const unchecked = await at.run(['login', ...args, '--store', 'file', '--no-check'], { stdin: 'some-secret' });
    expect(unchecked).toMatchObject({ code: 0 });
    expect(service.requests().length).toBe(calls);
    // Later commands need no option for what init was given to trust.
    const stored = { key: 'caFile', values: [service.caFile], origin: 'profile default' };
    expect(await at.settings()).toContainEqual(stored);
    expect(await at.run(['logout'])).toMatchObject({ code: 0 });
  });

  it('asks on a terminal for a file of roots until the service is trusted, and stores it for sign', async () => {
    await using at = await scene('typed');
    const typed = await at.login(['--store', 'file'], {
      env: { CODESIGN_CA_FILE: '' },
      typed: [
        { expect: '(not shown): ', send: `${secret()}\r` },
        { expect: "root certificate of the service's TLS certificate, PEM [none]: ", send: '/no/such.pem\r' },
        { expect: 'no/such.pem', send: '' },
        { expect: '[none]: ', send: `'${fixture('golden/intermediate.pem')}'\r` },
        { expect: 'not trusted', send: '' },
        { expect: '[none]: ', send: `${server.caFile}\r` },
      ],
    });
    expect(typed).toMatchObject({ code: 0, stdout: expect.stringContaining('stored   access key') });
    expect(typed.stdout).not.toContain('--');
    expect(await at.settings()).toContainEqual({ key: 'caFile', values: [server.caFile], origin: 'profile typed' });
    expect(await at.run(['whoami', '--check'], { env: { CODESIGN_CA_FILE: '' } })).toMatchObject({ code: 0 });
  });

  it('stores nothing if the service is not trusted and the user names no roots', async () => {
    await using at = await scene('untrusted');
    const run = await at.login(['--store', 'file'], {
      env: { CODESIGN_CA_FILE: '' },
      typed: [
        { expect: '(not shown): ', send: `${secret()}\r` },
        { expect: '[none]: ', send: '\r' },
      ],
    });
    expect(run).toMatchObject({ code: 3, stdout: expect.stringContaining('nothing was stored') });
    expect(errorCode(await at.run(['whoami']))).toBe('profile-unknown');
  });

  it('treats a locked keyring as unusable, and never says that it is empty', async () => {
    await using locked = await startSecretService({
      state: 'locked',
      async before({ env }) {
        const args = ['login', '--no-check', '--base-url', 'https://sign.example', '--access-key', 'key-of-somebody'];
        await using folder = await temporaryFolder();
        const login = await runCli(args, { env: { ...env, CODESIGN_CONFIG_DIR: folder.path }, stdin: 's3cret' });
        expect(login).toMatchObject({ code: 0 });
      },
    });
    const whoami = await runCli(['whoami'], { env: locked.env });
    expect([whoami.code, errorCode(whoami)]).toEqual([2, 'credentials-missing']);
    expect(whoami.stderr).toContain('locked');
    const logout = await runCli(['logout'], { env: locked.env });
    expect([logout.code, errorCode(logout)]).toEqual([2, 'keychain-locked']);
    expect(logout.stdout).toBe('');
  });
});

describe.runIf(IS_LINUX)('login --store file', () => {
  it('works without a keyring, from login to logout, and names the file', async () => {
    await using none = await startSecretService({ state: 'no-daemon' });
    await using at = await scene('served', none);
    const file = join(at.folder, 'config/credentials.json');
    const login = await at.login(['--store', 'file']);
    expect(login).toMatchObject({ code: 0, stderr: expect.stringContaining('[credentials-not-encrypted]') });
    const whoami = await at.run(['whoami', '--check', '--json']);
    expect(JSON.parse(whoami.stdout)).toMatchObject({ source: 'file', check: { accepted: true } });
    expect((await at.run(['whoami'])).stdout).toContain(`from        ${file}`);
    expect(JSON.parse((await at.run(['config', 'list', '--json'])).stdout)).toMatchObject({ credentialsFile: file });
    expect((await at.run(['config', 'list', '--origin'])).stdout).toMatch(
      new RegExp(`^login .*credentials .*${file}$`, 'm'),
    );
    const env = { CODESIGN_CODE: '1', CODESIGN_CERTIFICATE: server.env.CODESIGN_CERTIFICATE ?? '' };
    const doctor = await at.run(['doctor', '--no-timestamp'], { env });
    expect(doctor.stdout).toContain(`ok       credentials  from ${file}`);
    expect(await at.run(['logout'])).toMatchObject({ code: 0, stdout: expect.stringContaining(`from ${file}`) });
    expect(errorCode(await at.run(['logout']))).toBe('keychain-unavailable');
    expect(JSON.parse((await at.run(['config', 'list', '--json'])).stdout)).toMatchObject({ credentialsFile: null });
  });

  it('is replaced by a later login into the keyring', async () => {
    await using at = await scene('moved');
    await at.login(['--store', 'file']);
    await at.login();
    expect(JSON.parse((await at.run(['whoami', '--json'])).stdout)).toMatchObject({ source: 'keychain' });
    expect(await at.run(['logout'])).toMatchObject({ code: 0 });
  });

  it('is offered on a terminal without a keyring, and only a yes writes the file', async () => {
    await using none = await startSecretService({ state: 'no-daemon' });
    await using at = await scene('offered', none);
    const offered = async (answer: string, ...then: { readonly expect: string; readonly send: string }[]) =>
      await at.login([], { typed: [{ expect: '[y/N] ', send: `${answer}\r` }, ...then] });
    const refused = await offered('');
    expect(refused).toMatchObject({ code: 2, stdout: expect.stringContaining('login --store file') });
    expect(await offered('y', { expect: '(not shown): ', send: `${secret()}\r` })).toMatchObject({ code: 0 });
    expect(JSON.parse((await at.run(['whoami', '--json'])).stdout)).toMatchObject({ source: 'file' });
  });
});
