/** What `server/deploy/` gives to those who run the server in production. */

import { execFileSync, spawnSync } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { SERVER_PROGRAM } from '../../../test/support/services/server-data.ts';
import { folderForEach } from '../../../test/support/set-up.ts';

const folder = folderForEach();

const UNIT = new URL('../../deploy/codesign-remote-server.service', import.meta.url);
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

test.skipIf(!hasSystemd)(
  'the systemd unit has no unknown setting, and systemd finds little that it allows',
  async () => {
    const unit = folder.at('codesign-remote-server.service');
    const text = await readFile(UNIT, 'utf8');
    const program = '/usr/bin/node /opt/codesign-remote/server/bin/codesign-remote-server.js';
    expect(text).toContain(program);
    // The paths of this machine, since systemd looks whether the program is there.
    await writeFile(
      unit,
      text.replace(program, `${process.execPath} ${SERVER_PROGRAM}`).replace(/^Documentation=.*$/m, ''),
    );
    const { stdout, stderr, status } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' });
    const about = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('codesign-remote-server'));
    expect({ status, about }).toEqual({ status: 0, about: [] });
    // It fails where the exposure is more than 2.0 of 10.
    execFileSync('systemd-analyze', ['security', '--offline=true', '--threshold=20', unit], { stdio: 'pipe' });
  },
);

test.skipIf(process.getuid?.() !== 0)(
  'codesign-admin runs a command with the user, the configuration and the environment of the service only',
  async () => {
    await chmod(folder.path, 0o755);
    const paths = {
      '/opt/codesign-remote/server/bin/codesign-remote-server.js': folder.at('program.mjs'),
      '/etc/codesign-remote-server/environment': folder.at('environment'),
      'user=codesign': 'user=nobody',
      '/usr/bin/node': process.execPath,
    };
    let text = await readFile(new URL('../../deploy/codesign-admin', import.meta.url), 'utf8');
    for (const [theirs, ours] of Object.entries(paths)) {
      expect(text).toContain(theirs);
      text = text.replace(theirs, ours);
    }
    const admin = folder.at('codesign-admin');
    await writeFile(admin, text);
    const lines = [
      '# a comment',
      'CODESIGN_SERVER_CONFIG=/etc/codesign-remote-server/config.json',
      'PGPASSWORD="a $(id) b"',
      "PGSSLMODE='verify-full'",
      'not a line',
      'LAST=x=y z',
    ];
    await writeFile(folder.at('environment'), lines.join('\n')); // without a line break at the end
    const program = `import { userInfo } from 'node:os';
      const { PGPASSWORD, PGSSLMODE, LAST, SUDO_USER, ...all } = process.env;
      const server = Object.entries(all).filter(([name]) => name.startsWith('CODESIGN_SERVER_')).sort();
      const user = userInfo().username;
      const args = process.argv.slice(2);
      console.log(JSON.stringify({ user, umask: process.umask(), args, server, PGPASSWORD, PGSSLMODE, LAST, SUDO_USER }));
      process.exitCode = 6;`;
    await writeFile(folder.at('program.mjs'), program);
    const own = { CODESIGN_SERVER_DATABASE: 'postgres://elsewhere/x', SUDO_USER: 'alice' };
    const { stdout, stderr, status } = spawnSync('sh', [admin, 'client', 'add', '--name', "it's  x"], {
      ...{ cwd: folder.path, encoding: 'utf8', env: { ...process.env, ...own } },
    });
    expect({ stderr, status }).toEqual({ stderr: '', status: 6 });
    expect(JSON.parse(stdout)).toEqual({
      ...{ user: 'nobody', umask: 0o077, args: ['client', 'add', '--name', "it's  x"], SUDO_USER: 'alice' },
      server: [
        ['CODESIGN_SERVER_CONFIG', '/etc/codesign-remote-server/config.json'],
        ['CODESIGN_SERVER_DATA', '/var/lib/codesign-remote-server'],
      ],
      ...{ PGPASSWORD: 'a $(id) b', PGSSLMODE: 'verify-full', LAST: 'x=y z' },
    });
    // The unit and the wrapper agree.
    const unit = await readFile(UNIT, 'utf8');
    const original = await readFile(new URL('../../deploy/codesign-admin', import.meta.url), 'utf8');
    expect(unit).toContain(`\n${/user=.*/.exec(original)?.[0].replace('user', 'User')}\n`);
    expect(unit).toContain(`EnvironmentFile=-${/environment=(.*)/.exec(original)?.[1]}\n`);
    expect(unit).toContain(`Environment=${/export (CODESIGN_SERVER_DATA=.*)/.exec(original)?.[1]}\n`);
  },
);
