/** What `server/deploy/` gives to those who run the server in production. */

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SERVER_PROGRAM } from '../../../test/support/services/server-data.ts';

const UNIT = new URL('../../deploy/codesign-remote-server.service', import.meta.url);
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

test.skipIf(!hasSystemd)(
  'the systemd unit has no unknown setting, and systemd finds little that it allows',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'codesign-unit-'));
    try {
      const unit = join(folder, 'codesign-remote-server.service');
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
    } finally {
      await rm(folder, { recursive: true });
    }
  },
);

test('the image holds what the program needs, and runs it under a user of its own', async () => {
  const text = await readFile(new URL('../../deploy/Containerfile', import.meta.url), 'utf8');
  for (const path of ['node_modules', 'server/bin', 'server/dist', 'server/package.json']) {
    expect(text).toContain(`COPY --from=build /source/${path} `);
  }
  expect(text).toMatch(/\nUSER codesign\n/);
  expect(text).toMatch(/\nENTRYPOINT \["node", "\/app\/server\/bin\/codesign-remote-server\.js"\]\nCMD \["start"\]\n$/);
});
