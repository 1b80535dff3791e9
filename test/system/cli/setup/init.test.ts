/** `codesign-remote init`: asked on a terminal, and given up half way. A real terminal: sessions/recorded/terminal-80/init.txt. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CliOptions, fixture, runCli, temporaryFolder } from '../../../support/programs/cli.ts';

const LEAF = fixture('golden/leaf-2048.pem');
const ADDRESS = 'https://sign.example/a';
const SAID = ['--base-url', ADDRESS, '--code', '0042', '--certificate', LEAF];

async function storedIn(folder: string): Promise<unknown> {
  return JSON.parse(await readFile(join(folder, 'config.json'), 'utf8')).profiles;
}

describe('init on a terminal', () => {
  const init = (folder: string, args: readonly string[], typed: CliOptions['typed'] = []) =>
    runCli(['init', '--offline', ...args], { env: { HOME: folder, CODESIGN_CONFIG_DIR: folder }, typed });
  const LATER = { expect: 'store your credentials?', send: 'n\r' };

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
    expect(run.stdout).not.toContain('Certificate number');
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
      expect(run.stdout).toContain('[keychain-unavailable]');
      expect(await storedIn(folder.path)).toMatchObject({ default: { code: '0042' } });
    },
  );

  it('stores nothing after the end of the input', async () => {
    await using folder = await temporaryFolder();
    const run = await init(
      folder.path,
      [],
      [
        { expect: 'Address', send: `${ADDRESS}\r` },
        { expect: 'Certificate number', send: '\x04' },
      ],
    );
    expect(run.code).toBe(2);
    await expect(storedIn(folder.path)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
