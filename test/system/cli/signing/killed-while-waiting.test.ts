/** A run that is killed while most of its requests still wait: `resume` lists only what was sent. */

import { appendFile, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fixture, runCli, temporaryFolder } from '../../../support/programs/cli.ts';
import { startMisbehavingService } from '../../../support/services/misbehaving-service.ts';
import { environmentOf } from '../../../support/services/service-client.ts';
import { makePki } from '../../../support/signed-files/pki.ts';

const FILES = 50;

it('lists one call when one of 50 files was requested, and the others waited for a turn or a connection', async () => {
  await using folder = await temporaryFolder();
  const pki = makePki();
  const leaf = pki.leaf();
  // The second request is never answered, and no other gets a connection.
  const service = await startMisbehavingService('hangs', { key: leaf.privateKey, after: 1, mostConnections: 1 });
  try {
    const certificate = join(folder.path, 'chain.pem');
    await writeFile(certificate, leaf.pem + pki.intermediate.pem);
    const state = join(folder.path, 'state');
    const env = { CODESIGN_STATE_DIR: state, ...environmentOf(service, certificate) };
    const programs = join(folder.path, 'programs');
    await mkdir(programs);
    const paths = Array.from({ length: FILES + 1 }, (_, index) => join(programs, `app-${index}.exe`));
    for (const path of paths) {
      await copyFile(fixture('pe/hello.exe'), path);
      await appendFile(path, path);
    }
    const [proving = '', ...others] = paths;
    const args = ['sign', '--no-timestamp', '--no-report', '--json'];
    expect((await runCli([...args, proving], { env })).code).toBe(0);

    const killed = await runCli([...args, '--concurrency', String(FILES), ...others], {
      env,
      onStart(kill) {
        const watch = setInterval(() => {
          if (service.signRequests() < 2) return;
          clearInterval(watch);
          kill('SIGKILL');
        }, 5);
      },
    });
    expect(killed.code).toBeNull();
    expect(service.signRequests()).toBe(2);

    const { calls } = JSON.parse((await runCli(['resume', '--json', '--dry-run'], { env })).stdout);
    expect(calls.map(({ kind }: { kind: string }) => kind)).toEqual(['unknown']);
    for (const path of others) expect((await readFile(path)).subarray(-path.length).toString()).toBe(path);
  } finally {
    await service.stop();
  }
});
