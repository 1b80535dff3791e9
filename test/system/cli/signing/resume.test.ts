/** `codesign-remote resume` after runs that the service or the network broke off. The rest: sessions/recorded/cases/resume.txt, test/system/faults. */

import { execFileSync } from 'node:child_process';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { resume } from '../../../../src/index.ts';
import { runCli } from '../../../support/programs/cli.ts';
import { NO_AUTHORITY, reports, startScene } from '../../../support/runs/resume-scene.ts';

it.runIf(process.platform === 'linux' && process.getuid?.() === 0)(
  'requests nothing if the folder of the journal is append-only, and signs when it no longer is',
  async () => {
    await using stage = await startScene('good');
    const folder = join(stage.folder, 'state');
    await mkdir(folder, { mode: 0o700 });
    execFileSync('chattr', ['+a', folder]);
    try {
      for (const _ of [1, 2]) {
        const run = await stage.sign('--no-timestamp', stage.path);
        expect([run.code, stage.service.signRequests()]).toEqual([6, 0]);
        expect(run.stderr).toContain('append-only');
      }
    } finally {
      execFileSync('chattr', ['-a', folder]);
    }
    expect((await stage.sign('--no-timestamp', stage.path)).code).toBe(0);
    expect((await readdir(folder)).filter((one) => one.startsWith('.'))).toEqual([]);
  },
);

it('leaves a signature unwritten when the run is stopped before it was tried', async () => {
  await using stage = await startScene('good');
  await stage.sign(...NO_AUTHORITY, stage.path);
  const { calls } = await resume({ env: stage.env, timestamp: false, signal: AbortSignal.abort() });
  expect(calls).toMatchObject([{ kind: 'unwritten', status: 'left', error: { code: 'not-attempted' } }]);
});

describe('a report that was not sent', () => {
  it.each([
    ['other-credentials', { CODESIGN_ACCESS_KEY: 'another-key' }],
    ['other-service', { CODESIGN_BASE_URL: 'https://127.0.0.1:9' }],
    ['service-not-named', { CODESIGN_BASE_URL: '' }],
  ])('goes to no other service and with no other credentials: %s', async (error, env) => {
    await using stage = await startScene('server-error', { operation: 'report-sign' });
    await stage.sign('--no-timestamp', stage.path);
    const before = reports(stage).length;
    const { code, calls } = await stage.resume([], env);
    expect(code).toBe(2);
    expect(calls).toMatchObject([{ kind: 'unreported', status: 'left', error: { code: error } }]);
    expect(reports(stage)).toHaveLength(before);
  });

  it('stays when it fails again, and is dropped with --no-report', async () => {
    await using stage = await startScene('refused', { operation: 'report-sign' });
    await stage.sign('--no-timestamp', stage.path);
    expect(await stage.resume()).toMatchObject({ code: 5, calls: [{ status: 'failed', error: { code: 'refused' } }] });
    expect((await stage.resume(['--dry-run'])).calls).toHaveLength(1);
    const before = reports(stage).length;
    expect(await stage.resume(['--no-report'])).toMatchObject({ code: 0, calls: [{ status: 'finished' }] });
    expect(reports(stage)).toHaveLength(before);
    expect((await stage.resume()).calls).toEqual([]);
  });
});

it('forgets all calls whose outcome is unknown with --forget-unknown', async () => {
  await using stage = await startScene('breaks-before-answer', { times: 1 });
  expect((await stage.sign('--no-timestamp', stage.path)).code).toBe(3);
  const listed = await stage.resume();
  expect(listed).toMatchObject({ code: 0, calls: [{ kind: 'unknown', status: 'left' }] });
  expect(listed.stderr).toContain('may have been counted');
  expect((await stage.sign('--no-timestamp', stage.path)).code).toBe(0);

  const id = listed.calls[0]?.id ?? '';
  expect(await stage.resume(['--forget-unknown'])).toMatchObject({ code: 0, calls: [{ id, status: 'forgotten' }] });
  expect((await stage.resume()).calls).toEqual([]);
  const { stdout } = await runCli(['history', '--json'], { env: stage.env });
  const outcomes = JSON.parse(stdout).calls.map(
    ({ outcome, counted }: Readonly<Record<string, string>>) => `${outcome} ${counted}`,
  );
  expect(outcomes.sort()).toEqual(['given-up unknown', 'written yes']);
});
