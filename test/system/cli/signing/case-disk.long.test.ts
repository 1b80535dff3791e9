/** Results that a file system without regard to case puts in one place are rejected before the first request. */

import { copyFile, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mayMountCaseDisks, mountCaseDisk } from '../../../support/programs/case-disk.ts';
import { fixture, parseJson, runCli, temporaryFolder } from '../../../support/programs/cli.ts';
import { type SharedServer, useServer } from '../../../support/services/shared-server.ts';

const mayMount = mayMountCaseDisks();
if (!mayMount) console.log('left out without root, FUSE and exfat-fuse: results on a file system that ignores case');
describe.runIf(mayMount)('on exFAT', () => {
  let server: SharedServer;
  beforeAll(async () => {
    server = await useServer();
  });
  afterAll(() => server.stop());

  it.each([
    ['one folder', ['App.exe', 'b/app.exe'], []],
    ['folders that the run makes', ['a/In/x.exe', 'b/in/x.exe'], ['--recursive']],
    ['letters that are not ASCII', ['\u00c9.exe', 'b/\u00e9.exe'], []],
  ] as const)('%s', async (_, [first, second], more) => {
    await using disk = await mountCaseDisk();
    await using inputs = await temporaryFolder();
    for (const name of [first, second]) {
      await mkdir(join(inputs.path, name, '..'), { recursive: true });
      await copyFile(fixture('pe/hello.exe'), join(inputs.path, name));
    }
    const named = more.length > 0 ? ['a', 'b'] : [first, second];
    const output = join(disk.folder, 'out/');
    const options = { cwd: inputs.path, env: { ...server.env, CODESIGN_TIMESTAMP_URL: '' } };
    const sign = (names: readonly string[]) =>
      runCli(['sign', '--json', '--no-timestamp', '-o', output, ...more, ...names], options);
    const run = await sign(named);
    const { files } = parseJson(run);
    const conflicts = files.filter(({ error }) => error?.code === 'output-conflict');
    expect([run.code, conflicts.length]).toEqual([6, 2]);
    expect((await readdir(disk.folder, { recursive: true })).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    // One alone is signed on such a file system.
    const alone = await runCli(['sign', '--json', '--no-timestamp', '-o', output, first], options);
    expect(parseJson(alone).files[0]).toMatchObject({ status: 'signed' });
  });
});
