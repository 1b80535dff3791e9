/** When a run counts as ended: until then, the same command requests and pays for nothing again, and appends nothing twice. */

import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type CliOptions, fixture, runCli, temporaryFolder } from '../../../support/programs/cli.ts';
import { PRELOAD } from '../../../support/runs/killed-subjects.ts';
import { startMisbehavingService } from '../../../support/services/misbehaving-service.ts';
import { environmentOf } from '../../../support/services/service-client.ts';
import { makePki } from '../../../support/signed-files/pki.ts';

it('ends with exit code 0 only if it was not interrupted, its output was not lost, and its last action ran', async () => {
  const pki = makePki();
  const leaf = pki.leaf();
  await using folder = await temporaryFolder('codesign-run-end-');
  const service = await startMisbehavingService('good', { key: leaf.privateKey, milliseconds: 300 });
  try {
    const certificate = join(folder.path, 'chain.pem');
    await writeFile(certificate, leaf.pem + pki.intermediate.pem);
    const file = join(folder.path, 'app.exe');
    await copyFile(fixture('pe/hello.exe'), file);
    const env = { ...environmentOf(service, certificate), CODESIGN_STATE_DIR: join(folder.path, 'state') };
    const append = (more: CliOptions = {}) =>
      runCli(['sign', '--append', '--no-timestamp', '--json', file], { ...more, env: { ...env, ...more.env } });
    const standing = async () => ({ requests: service.signRequests(), bytes: await readFile(file) });

    const interrupted = await append({ onStart: (kill) => interruptDuringCall(() => service.signRequests(), kill) });
    expect(interrupted.code).toBe(130);
    const after = await standing();
    expect([after.requests, after.bytes.equals(await readFile(fixture('pe/hello.exe')))]).toEqual([1, false]);

    const unheard = await append({ through: ['bash', '-c', '"$0" "$@" > /dev/full'] });
    expect([unheard.code, await standing()]).toEqual([6, after]);

    const kill = { NODE_OPTIONS: `--require ${PRELOAD}`, CODESIGN_TEST_KILL_CALL: 'update runs set well' };
    const killed = await append({ env: kill });
    expect([killed.code, killed.stdout.endsWith('}\n'), await standing()]).toEqual([null, true, after]);

    expect([(await append()).code, await standing()]).toEqual([0, after]);
    // That run has ended, so this one is another.
    expect([(await append()).code, service.signRequests()]).toEqual([0, 2]);
  } finally {
    await service.stop();
  }
});

function interruptDuringCall(requests: () => number, kill: (signal: NodeJS.Signals) => void): void {
  const watch = setInterval(() => {
    if (requests() === 0) return;
    clearInterval(watch);
    kill('SIGINT');
  }, 1);
}
