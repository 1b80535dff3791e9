/** `codesign-remote resume` after runs of `sign` that a timestamp authority, the service or the network broke off. */

import { execFileSync } from 'node:child_process';
import { appendFile, copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { resume } from '../../../../src/index.ts';
import { fixture, runCli, snapshot, temporaryFolder } from '../../../support/programs/cli.ts';
import { NO_AUTHORITY, reports, resumeWith, startScene } from '../../../support/runs/resume-scene.ts';
import { useServer } from '../../../support/services/shared-server.ts';
import { makePki } from '../../../support/signed-files/pki.ts';

describe('a damaged journal', () => {
  it.each(['resume', 'sign', 'history'])('is named by %s, with the command that moves it away', async (command) => {
    await using stage = await startScene('good');
    const state = join(stage.folder, 'state');
    await mkdir(state, { mode: 0o700 });
    await writeFile(join(state, 'journal.db'), 'no database'.padEnd(5000), { mode: 0o600 });
    const args = command === 'sign' ? ['--no-timestamp', stage.path] : [];
    const run = await runCli([command, ...args], { env: stage.env });
    expect([run.code, stage.service.signRequests()]).toEqual([6, 0]);
    expect(run.stderr).toContain('[journal-damaged]');
    const [, shell = ''] = /start a new one: (.*)/.exec(run.stderr) ?? [];
    if (process.platform === 'win32') return;
    execFileSync('sh', ['-c', shell]);
    expect((await readdir(state)).filter((name) => name.startsWith('damaged-'))).toContain('damaged-journal.db');
    expect((await stage.sign('--no-timestamp', stage.path)).code).toBe(0);
  });

  it.each(['calls', 'running'])(
    'of an earlier build, with its folder %s, is not replaced by a new one',
    async (name) => {
      await using stage = await startScene('good');
      await mkdir(join(stage.folder, 'state', name), { recursive: true, mode: 0o700 });
      const run = await stage.sign('--no-timestamp', stage.path);
      expect([run.code, stage.service.signRequests()]).toEqual([6, 0]);
      expect(run.stderr).toContain('[journal-of-earlier-build]');
    },
  );

  const isRoot = process.getuid?.() === 0;
  it.runIf(process.platform === 'linux' && isRoot)(
    'requests nothing if its folder is append-only, and signs when it no longer is',
    async () => {
      await using stage = await startScene('good');
      await stage.resume(['--no-timestamp']);
      const folder = join(stage.folder, 'state');
      await mkdir(folder, { recursive: true, mode: 0o700 });
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
});

describe('a signature that is not written', () => {
  it('is timestamped and written, and reported, with the one signature that was paid for', async () => {
    await using folder = await temporaryFolder();
    const server = await useServer({ bits: 2048, tsa: true });
    try {
      const env = { ...server.env, CODESIGN_STATE_DIR: join(folder.path, 'state') };
      const path = join(folder.path, 'app.exe');
      await copyFile(fixture('pe/hello.exe'), path);
      const options = ['-d', 'An Application', '-a', 'SHA384'];
      const failed = await runCli(['sign', ...NO_AUTHORITY, ...options, 'app.exe'], { env, cwd: folder.path });
      expect(failed.code).toBe(7);

      // In another folder, and without the options that sign had for the file.
      expect(await resumeWith(env)).toMatchObject({ code: 0, calls: [{ kind: 'unwritten', status: 'finished' }] });

      const inspected = await runCli(['inspect', path]);
      expect(inspected.stdout).toContain('An Application');
      const verified = await runCli(['verify', '--integrity-only', '--require-timestamp', path]);
      expect(verified.code).toBe(0);
      expect(server.operations('sign')).toHaveLength(1);
      expect(server.operations('report-sign')).toHaveLength(1);
      expect(await resumeWith(env)).toMatchObject({ code: 0, calls: [] });
    } finally {
      await server.stop();
    }
  }, 60_000);

  it('is left when the run is stopped before it was tried', async () => {
    await using stage = await startScene('good');
    await stage.sign(...NO_AUTHORITY, stage.path);
    const { calls } = await resume({ env: stage.env, timestamp: false, signal: AbortSignal.abort() });
    expect(calls).toMatchObject([{ kind: 'unwritten', status: 'left', error: { code: 'not-attempted' } }]);
  });

  it('is written to its planned path, and the original stays', async () => {
    await using stage = await startScene('good');
    const output = join(stage.folder, 'signed.exe');
    expect((await stage.sign(...NO_AUTHORITY, stage.path, '-o', output)).code).toBe(7);
    const original = await readFile(stage.path);

    expect(await stage.resume(['--no-timestamp'])).toMatchObject({ code: 0, calls: [{ status: 'finished' }] });

    expect(await readFile(stage.path)).toEqual(original);
    expect((await runCli(['verify', '--integrity-only', output])).code).toBe(0);
    expect(reports(stage)).toEqual([1]);
    expect(stage.service.signRequests()).toBe(1);
  });

  it('is not used for a file that has changed since, and no other is requested', async () => {
    await using stage = await startScene('good');
    await stage.sign(...NO_AUTHORITY, stage.path);
    await appendFile(stage.path, 'more');
    const changed = await snapshot(stage.folder);

    const { code, calls } = await stage.resume(['--no-timestamp']);

    expect(code).toBe(6);
    expect(calls).toMatchObject([{ kind: 'unwritten', status: 'failed', error: { code: 'changed-since' } }]);
    expect(stage.service.signRequests()).toBe(1);
    expect((await snapshot(stage.folder))[stage.path]).toBe(changed[stage.path]);
    // It is kept: no one but the user gives it up.
    expect((await stage.resume(['--dry-run'])).calls).toHaveLength(1);
  });

  it('is kept while its file is away', async () => {
    await using stage = await startScene('good');
    const copy = join(stage.folder, 'copy.exe');
    await copyFile(stage.path, copy);
    await stage.sign(...NO_AUTHORITY, copy);
    await writeFile(copy, '');

    expect(await stage.resume(['--no-timestamp'])).toMatchObject({ code: 6, calls: [{ status: 'failed' }] });
    await copyFile(stage.path, copy);
    expect(await stage.resume(['--no-timestamp'])).toMatchObject({ code: 0, calls: [{ status: 'finished' }] });
  });

  it('is kept while there is no authority to ask, and timestamps were not declined', async () => {
    await using stage = await startScene('good');
    await stage.sign(...NO_AUTHORITY, stage.path);
    const { code, stderr } = await stage.resume();
    expect(code).toBe(2);
    expect(stderr).toContain('[setting-missing]');
    const env = { ...stage.env, CODESIGN_REQUIRE_TIMESTAMP: 'true' };
    const declined = await runCli(['resume', '--no-timestamp'], { env });
    expect([declined.code, declined.stderr]).toEqual([
      2,
      expect.stringContaining('--no-timestamp and CODESIGN_REQUIRE_TIMESTAMP'),
    ]);
    expect(await stage.resume(NO_AUTHORITY)).toMatchObject({
      code: 7,
      calls: [{ error: { code: 'timestamp-failed' } }],
    });
  });

  it.each([
    { what: 'written', args: ['--no-timestamp'] },
    { what: 'given up', args: ['--forget'] },
  ])('is not reported when $what, if sign had the option', async ({ args }) => {
    await using stage = await startScene('good');
    await stage.sign(...NO_AUTHORITY, '--no-report', stage.path);
    const [call] = (await stage.resume(['--dry-run'])).calls;
    const ids = args.includes('--forget') ? [call?.id ?? ''] : [];

    expect(await stage.resume([...args, ...ids])).toMatchObject({ code: 0, calls: [{ kind: 'unwritten' }] });

    expect(reports(stage)).toEqual([]);
    expect((await stage.resume()).calls).toEqual([]);
    const { stdout } = await runCli(['history', '--json'], { env: stage.env });
    expect(JSON.parse(stdout).calls).toMatchObject([{ counted: 'yes', reported: null }]);
  });

  it('is discarded with --forget, which is reported to the service', async () => {
    await using stage = await startScene('good');
    await stage.sign(...NO_AUTHORITY, stage.path);
    const [call] = (await stage.resume(['--dry-run'])).calls;

    const forgotten = await stage.resume(['--forget', call?.id ?? '']);

    expect(forgotten).toMatchObject({ code: 0, calls: [{ status: 'forgotten' }] });
    expect(reports(stage)).toEqual([2]);
    expect(await stage.resume()).toMatchObject({ code: 0, calls: [] });
    const { stdout } = await runCli(['history', '--json'], { env: stage.env });
    expect(JSON.parse(stdout).calls).toMatchObject([{ outcome: 'given-up', counted: 'yes', reported: 2 }]);
  });
});

describe('a report that was not sent', () => {
  const unsent = () => startScene('server-error', { operation: 'report-sign', times: 3 });

  it('is sent', async () => {
    await using stage = await unsent();
    expect((await stage.sign('--no-timestamp', stage.path)).code).toBe(0);
    const before = reports(stage).length;

    expect(await stage.resume()).toMatchObject({ code: 0, calls: [{ kind: 'unreported', status: 'finished' }] });

    expect(reports(stage).slice(before)).toEqual([1]);
    expect(await stage.resume()).toMatchObject({ code: 0, calls: [] });
  });

  it.each([
    ['other-credentials', { CODESIGN_ACCESS_KEY: 'another-key' }],
    ['other-service', { CODESIGN_BASE_URL: 'https://127.0.0.1:9' }],
    ['service-not-named', { CODESIGN_BASE_URL: '' }],
  ])('goes to no other service and with no other credentials: %s', async (error, env) => {
    await using stage = await unsent();
    await stage.sign('--no-timestamp', stage.path);
    const before = reports(stage).length;

    const { code, calls } = await stage.resume([], env);

    expect(code).toBe(2);
    expect(calls).toMatchObject([{ kind: 'unreported', status: 'left', error: { code: error } }]);
    expect(reports(stage)).toHaveLength(before);
  });

  it('stays when it fails again', async () => {
    await using stage = await startScene('refused', { operation: 'report-sign' });
    await stage.sign('--no-timestamp', stage.path);
    expect(await stage.resume()).toMatchObject({ code: 5, calls: [{ status: 'failed', error: { code: 'refused' } }] });
    expect((await stage.resume(['--dry-run'])).calls).toHaveLength(1);
  });

  it('is dropped with --no-report', async () => {
    await using stage = await startScene('refused', { operation: 'report-sign' });
    await stage.sign('--no-timestamp', stage.path);
    const before = reports(stage).length;
    expect(await stage.resume(['--no-report'])).toMatchObject({ code: 0, calls: [{ status: 'finished' }] });
    expect(reports(stage)).toHaveLength(before);
    expect((await stage.resume()).calls).toEqual([]);
  });
});

describe('a different certificate', () => {
  it('finishes nothing', async () => {
    await using stage = await startScene('good');
    await stage.sign(...NO_AUTHORITY, stage.path);
    const pki = makePki();
    const other = join(stage.folder, 'other.pem');
    await writeFile(other, pki.leaf({ commonName: 'Another' }).pem + pki.intermediate.pem);
    const { code, calls } = await stage.resume(['--no-timestamp', '--certificate', other]);
    expect(code).toBe(2);
    expect(calls).toMatchObject([{ status: 'left', error: { code: 'other-certificate' } }]);
  });
});

describe('a signature that does not match the certificate', () => {
  it('must be settled by the user, and causes no request', async () => {
    await using stage = await startScene('signature-wrong');
    expect((await stage.sign('--no-timestamp', stage.path)).code).toBe(6);
    const { code, calls, stderr } = await stage.resume(['--no-timestamp']);
    expect(code).toBe(0);
    expect(calls).toMatchObject([{ kind: 'unwritten', status: 'left' }]);
    expect(stderr).toContain('does not match its certificate');
    expect(stage.service.signRequests()).toBe(1);
  });
});

describe('a call whose outcome is unknown', () => {
  it('is listed for the user to settle, sends no request, and is forgotten with all of its kind', async () => {
    await using stage = await startScene('breaks-before-answer', { times: 1 });
    expect((await stage.sign('--no-timestamp', stage.path)).code).toBe(3);

    const listed = await stage.resume();
    expect(listed).toMatchObject({ code: 0, calls: [{ kind: 'unknown', status: 'left' }] });
    expect(listed.stderr).toContain('may have been counted');
    expect(stage.service.signRequests()).toBe(1);
    const again = await stage.sign('--no-timestamp', stage.path);
    expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining('may have been counted') });

    const id = listed.calls[0]?.id ?? '';
    expect(await stage.resume(['--forget-unknown'])).toMatchObject({ code: 0, calls: [{ id, status: 'forgotten' }] });
    expect((await stage.resume()).calls).toEqual([]);
    const { stdout } = await runCli(['history', '--json'], { env: stage.env });
    const outcomes = JSON.parse(stdout).calls.map(({ outcome, counted }: Readonly<Record<string, string>>) => [
      outcome,
      counted,
    ]);
    expect(outcomes.sort()).toEqual([
      ['given-up', 'unknown'],
      ['written', 'yes'],
    ]);
  });
});

describe('resume', () => {
  it('finds nothing unfinished where there is no journal, and needs no settings for that', async () => {
    await using folder = await temporaryFolder();
    const run = await runCli(['resume'], { env: { CODESIGN_STATE_DIR: join(folder.path, 'state') } });
    expect(run).toMatchObject({ code: 0, stdout: 'nothing is unfinished\n' });
    expect(await snapshot(folder.path)).toEqual({});
  });

  it('knows no call by another id', async () => {
    await using stage = await startScene('good');
    const { code, stderr } = await stage.resume(['--forget', 'nothing']);
    expect(code).toBe(2);
    expect(stderr).toContain('[no-such-call]');
  });

  it('describes what is left, and escapes untrusted text', async () => {
    await using stage = await startScene('breaks-before-answer');
    const path = join(stage.folder, 'a\u001b[31m.exe');
    await copyFile(stage.path, path);
    await stage.sign('--no-timestamp', path);
    const { stdout } = await runCli(['resume'], { env: stage.env });
    expect(stdout).toContain('a\\x1b[31m.exe');
    expect(stdout).toMatch(/^ +call [0-9a-f]{20}, requested /m);
    expect(stdout).not.toContain('\u001b');
  });
});
