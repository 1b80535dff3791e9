/** `codesign-remote init`: asked on a real terminal, told by options, and given up half way. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLI_PROGRAM, fixture, runCli, temporaryFolder } from '../../../support/programs/cli.ts';
import { runOnTerminal, type TerminalStep } from '../../../support/programs/terminal.ts';

const LEAF = fixture('golden/leaf-2048.pem');
const ISSUER = fixture('golden/intermediate.pem');
const ADDRESS = 'https://sign.example/a';
const SAID = ['--base-url', ADDRESS, '--code', '0042', '--certificate', LEAF];

async function storedIn(folder: string): Promise<unknown> {
  return JSON.parse(await readFile(join(folder, 'config.json'), 'utf8')).profiles;
}

describe('init without a terminal', () => {
  const init = (folder: string, args: readonly string[], env = {}) =>
    runCli(['init', '--offline', ...args], { env: { CODESIGN_CONFIG_DIR: folder, ...env } });

  it('stores what options say, and reports what comes next', async () => {
    await using folder = await temporaryFolder();
    const args = ['-p', 'work', ...SAID, '--certificate', ISSUER, '-t', 'http://t.example', '-t', 'http://u.example'];
    const { code, stdout } = await init(folder.path, args);
    expect(code).toBe(0);
    expect(await storedIn(folder.path)).toEqual({
      work: {
        environments: { production: ADDRESS },
        code: '0042',
        certificate: [LEAF, ISSUER],
        timestampUrl: ['http://t.example', 'http://u.example'],
      },
    });
    expect(stdout).toMatch(/^stored {3}profile work, .*config\.json\n/);
    expect(stdout).toContain('codesign-remote login --profile work');
    expect((await init(folder.path, [...args, '--store', 'file'])).stdout).toContain(
      'login --profile work --store file',
    );
    expect(await init(folder.path, [...args, '--store', 'disk'])).toMatchObject({ code: 2 });
  });

  it('stores an address under another name, and keeps what else the profile has', async () => {
    await using folder = await temporaryFolder();
    await init(folder.path, [...SAID, '-t', 'http://t.example']);
    const second = ['-e', 'alternate', '--yes', '--base-url', 'https://alternate.example', '--no-timestamp'];
    expect((await init(folder.path, second)).code).toBe(0);
    expect(await storedIn(folder.path)).toEqual({
      default: {
        environments: { production: ADDRESS, alternate: 'https://alternate.example' },
        code: '0042',
        certificate: [LEAF],
      },
    });
  });

  it('takes the environment with --yes alone', async () => {
    await using folder = await temporaryFolder();
    const env = { CODESIGN_BASE_URL: ADDRESS, CODESIGN_CODE: '7', CODESIGN_CERTIFICATE: LEAF };
    const { code, stderr } = await init(folder.path, [], env);
    expect(code).toBe(2);
    expect(stderr).toMatch(/\[no-terminal\]\n.*init --yes --base-url/);
    expect((await init(folder.path, ['--yes'], env)).code).toBe(0);
    expect(await storedIn(folder.path)).toMatchObject({ default: { code: '7', certificate: [LEAF] } });
  });

  it.each([
    ['setting-missing', ['--yes', '--code', '1', '--certificate', LEAF], 2],
    ['base-url-insecure', ['--base-url', 'http://sign.example', '--code', '1', '--certificate', LEAF], 2],
    ['invalid-setting', ['--base-url', ADDRESS, '--code', '1 2', '--certificate', LEAF], 2],
    ['invalid-setting', [...SAID, '-t', 'ftp://t.example'], 2],
    ['certificate-file-missing', ['--base-url', ADDRESS, '--code', '1', '--certificate', '/no/such.pem'], 6],
    ['certificate-not-for-code-signing', ['--base-url', ADDRESS, '--code', '1', '--certificate', ISSUER], 6],
    ['ca-file-unreadable', [...SAID, '--ca-file', '/no/such.pem'], 2],
    ['profile-name-invalid', ['-p', 'a b', ...SAID], 2],
    ['profile-name-invalid', ['-e', 'a b', ...SAID], 2],
  ])('rejects %s: %j, and stores nothing', async (error, args, exitCode) => {
    await using folder = await temporaryFolder();
    const { code, stderr } = await init(folder.path, args);
    expect(stderr).toContain(`[${error}]`);
    expect(code).toBe(exitCode);
    await expect(storedIn(folder.path)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe.skipIf(process.platform === 'win32')('init on a terminal', () => {
  const init = (folder: string, args: readonly string[], steps: readonly TerminalStep[]) =>
    runOnTerminal(
      [process.execPath, CLI_PROGRAM, 'init', '--offline', ...args],
      { PATH: process.env.PATH ?? '', HOME: folder, CODESIGN_CONFIG_DIR: folder },
      steps,
    );
  const LATER = { expect: 'store your credentials?', send: 'n\r' };

  it('requests what is needed, and again for what cannot be', async () => {
    await using folder = await temporaryFolder();
    const run = await init(
      folder.path,
      [],
      [
        { expect: 'Address of the signing service: ', send: 'http://sign.example\r' },
        { expect: 'without TLS', send: `${ADDRESS}\r` },
        { expect: 'Certificate number at the service: ', send: '\r' },
        { expect: 'this number is empty', send: 'tools/chain.pem\r' },
        { expect: 'is not a certificate number', send: '0042\r' },
        { expect: 'and its issuers: ', send: '/no/such.pem\r' },
        { expect: 'the file does not exist', send: `'${LEAF}'\r` },
        { expect: 'File with its issuers', send: `${ISSUER}\r` },
        {
          expect: 'Timestamp authorities (separate several with spaces; `none`: no timestamps)',
          send: 'http://t.example  http://u.example\r',
        },
        LATER,
      ],
    );
    expect(run).toMatchObject({ code: 0, isRestored: true });
    expect(run.output).toContain('stored   profile default');
    expect(run.output).toContain('docs/timestamps.md');
    expect(await storedIn(folder.path)).toEqual({
      default: {
        environments: { production: ADDRESS },
        code: '0042',
        certificate: [LEAF, ISSUER],
        timestampUrl: ['http://t.example', 'http://u.example'],
      },
    });
  });

  it('offers known values, and asks nothing that an option answers', async () => {
    await using folder = await temporaryFolder();
    await runCli(['init', '--offline', ...SAID, '-t', 'http://t.example'], {
      env: { CODESIGN_CONFIG_DIR: folder.path },
    });
    const run = await init(
      folder.path,
      ['--code', '43'],
      [
        { expect: `Address of the signing service [${ADDRESS}]: `, send: '\r' },
        { expect: `[${LEAF}]: `, send: '\r' },
        { expect: '[none]: ', send: '\r' },
        { expect: '[http://t.example]: ', send: 'none\r' },
        LATER,
      ],
    );
    expect(run.code).toBe(0);
    expect(run.output).not.toContain('Certificate number');
    expect(await storedIn(folder.path)).toEqual({
      default: { environments: { production: ADDRESS }, code: '43', certificate: [LEAF] },
    });
  });

  it.skipIf(process.platform !== 'linux')(
    'continues with login, which may find no keychain: the settings are stored by then',
    async () => {
      await using folder = await temporaryFolder();
      const run = await init(
        folder.path,
        [...SAID, '--no-timestamp'],
        [
          { expect: 'store your credentials?', send: '\r' },
          { expect: '[y/N] ', send: '\r' },
        ],
      );
      expect(run.code).not.toBe(0);
      expect(run.output).toContain('[keychain-unavailable]');
      expect(await storedIn(folder.path)).toMatchObject({ default: { code: '0042' } });
    },
  );

  it.each([
    ['Ctrl-C', '\x03', 130],
    ['the end of the input', '\x04', 2],
  ])('stores nothing after %s', async (_name, key, code) => {
    await using folder = await temporaryFolder();
    const run = await init(
      folder.path,
      [],
      [
        { expect: 'Address', send: `${ADDRESS}\r` },
        { expect: 'Certificate number', send: key },
      ],
    );
    expect(run).toMatchObject({ code, isRestored: true });
    await expect(storedIn(folder.path)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
