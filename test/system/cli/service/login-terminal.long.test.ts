/** `login` on a real terminal, with a user typing: what is shown of it, what is not, and how the terminal is left. */

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLI_PROGRAM, runCli, temporaryFolder } from '../../../support/programs/cli.ts';
import { startSecretService } from '../../../support/programs/secret-service.ts';
import { runOnTerminal, type TerminalStep } from '../../../support/programs/terminal.ts';
import { useServer } from '../../../support/services/shared-server.ts';
import { forAll } from '../../../support/set-up.ts';

const IS_LINUX = process.platform === 'linux';

describe.runIf(IS_LINUX)('login on a terminal', async () => {
  const folder = await forAll(temporaryFolder());
  const keyring = IS_LINUX ? await forAll(startSecretService()) : undefined;
  const env = {
    PATH: process.env.PATH ?? '',
    ...keyring?.env,
    CODESIGN_STATE_DIR: join(folder.path, 'state'),
    CODESIGN_CONFIG_DIR: join(folder.path, 'config'),
  };

  const ADDRESS = { expect: 'Address of the signing service', send: 'https://sign.example\r' };
  const KEY = { expect: 'Access Key: ', send: 'key-of-somebody\r' };
  const login = (args: readonly string[], steps: readonly TerminalStep[]) =>
    runOnTerminal([process.execPath, CLI_PROGRAM, 'login', '--no-check', ...args], env, steps);
  const whoami = async (profile: string) =>
    JSON.parse((await runCli(['whoami', '--json', '--profile', profile], { env })).stdout);

  it('offers the known address, and asks again for an invalid one', async () => {
    await runCli(['config', 'set', '--profile', 'known', 'baseUrl', 'https://known.example/path'], { env });
    const run = await login(
      ['--profile', 'known'],
      [
        { expect: '[https://known.example/path]: ', send: 'nonsense\r' },
        { expect: 'not a usable service address', send: '\r' },
        { expect: 'Access Key: ', send: 'with:colon\r' },
        { expect: 'contains a colon', send: 'key-of-somebody\r' },
        { expect: 'Access Secret (not shown): ', send: '\r' },
        { expect: 'is empty', send: 's3cret\r' },
      ],
    );
    expect(run).toMatchObject({ code: 0, isRestored: true });
    expect(await whoami('known')).toMatchObject({ origin: 'https://known.example' });
  });

  it('shows no secret that is pasted together with the answers before it', async () => {
    const all = 'https://sign.example\rkey-of-somebody\rs3cret\r';
    const run = await login(['--profile', 'pasted'], [{ expect: 'Address', send: `\x1b[200~${all}\x1b[201~` }]);
    expect(run).toMatchObject({ code: 0, isRestored: true });
    expect(run.output).not.toContain('s3cret');
    expect(await whoami('pasted')).toMatchObject({ origin: 'https://sign.example' });
  });

  it('stores nothing if the service is not trusted and the user names no roots', async () => {
    const server = await useServer();
    const run = await runOnTerminal(
      [process.execPath, CLI_PROGRAM, 'login', '--base-url', server.baseUrl, '--access-key', 'key-of-somebody'],
      env,
      [
        { expect: '(not shown): ', send: 's3cret\r' },
        { expect: '[none]: ', send: '\r' },
      ],
    );
    expect(run).toMatchObject({ code: 3, isRestored: true });
    expect(run.output).toContain('[tls-untrusted]');
    expect(run.output).toContain('nothing was stored');
    expect((await runCli(['whoami'], { env })).stderr).toContain('credentials-missing');
  });

  it.each([
    ['Ctrl-C, halfway through', 's3c\x03', 130],
    ['the end of the input', '\x04', 2],
  ])('stores nothing and gives the terminal back on %s', async (_name, typed, code) => {
    const run = await login(['--profile', 'broken-off'], [ADDRESS, KEY, { expect: '(not shown): ', send: typed }]);
    expect(run).toMatchObject({ code, isRestored: true });
    expect(run.output).not.toContain('s3c');
    const { stderr } = await runCli(['whoami', '--profile', 'broken-off'], { env });
    expect(stderr).toContain('profile-unknown');
  });
});
