/** `login` without an answer of the service, and with a locked keyring. The rest: sessions/recorded/cases/login.txt and questions.txt. */

import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type CliOptions, type CliRun, runCli, temporaryFolder } from '../../../support/programs/cli.ts';
import { startSecretService } from '../../../support/programs/secret-service.ts';
import { startMisbehavingService } from '../../../support/services/misbehaving-service.ts';

const errorCode = (run: CliRun) => /\[([a-z-]+)\]$/m.exec(run.stderr)?.[1];

describe.runIf(process.platform === 'linux')('login', () => {
  it('stores nothing without an answer, unless it must not ask', async () => {
    await using folder = await temporaryFolder();
    await using keyring = await startSecretService();
    const env = { ...keyring.env, CODESIGN_CONFIG_DIR: join(folder.path, 'config') };
    const run = (args: readonly string[], options: CliOptions = {}) => runCli(args, { env, ...options });
    const service = await startMisbehavingService('hangs');
    onTestFinished(() => service.stop());
    const args = ['--base-url', service.baseUrl, '--ca-file', service.caFile, '--access-key', 'some-key'];
    const asked = ['login', ...args, '--store', 'file', '--timeout', '0.5'];
    const login = await run(asked, { stdin: 'some-secret' });
    expect([login.code, errorCode(login)]).toEqual([3, 'check-unanswered']);
    expect(login.stderr).toContain('--no-check');
    expect(errorCode(await run(['whoami']))).toBe('credentials-missing');
    const calls = service.requests().length;
    const unchecked = await run(['login', ...args, '--store', 'file', '--no-check'], { stdin: 'some-secret' });
    expect(unchecked).toMatchObject({ code: 0 });
    expect(service.requests().length).toBe(calls);
    // Later commands need no option for what init was given to trust.
    const { stdout } = await run(['config', 'list', '--json']);
    const stored = { key: 'caFile', values: [service.caFile], origin: 'profile default' };
    expect(JSON.parse(stdout).settings).toContainEqual(stored);
    expect(await run(['logout'])).toMatchObject({ code: 0 });
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
