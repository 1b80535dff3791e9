/** `codesign-remote sign` and its journal: what one run is given, the next one uses, whatever happened in between. */

import { createHash } from 'node:crypto';
import { appendFile, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixture, parseJson, runCli, temporaryFolder } from '../../../support/programs/cli.ts';
import { type Env, reports, startScene } from '../../../support/runs/resume-scene.ts';
import type { MisbehavingServiceOptions, ServiceMode } from '../../../support/services/misbehaving-service.ts';
import { useServer } from '../../../support/services/shared-server.ts';
import { startTimestampAuthority } from '../../../support/services/timestamp-authority.ts';
import { forAll } from '../../../support/set-up.ts';
import { makePki, testKey } from '../../../support/signed-files/pki.ts';

/** A program of its own content for each word. */
async function program(path: string, content: string): Promise<string> {
  await mkdir(join(path, '..'), { recursive: true });
  await copyFile(fixture('pe/hello.exe'), path);
  await appendFile(path, content.padEnd(16));
  return path;
}

const firstFile = (run: Awaited<ReturnType<typeof runCli>>) => JSON.parse(run.stdout).files[0];

describe('with the real service', async () => {
  const [server, authority] = await Promise.all([forAll(useServer()), forAll(startTimestampAuthority())]);

  /** A folder with a journal of its own. `sign` takes no timestamps. */
  async function scene() {
    const folder = await temporaryFolder('codesign-journal-');
    const env = { ...server.env, CODESIGN_STATE_DIR: join(folder.path, 'state') };
    return {
      folder: folder.path,
      env,
      program: (name: string, content: string) => program(join(folder.path, name), content),
      sign: (files: readonly string[], args: readonly string[] = ['--no-timestamp'], more: Env = {}) =>
        runCli(['sign', '--json', '--timeout', '2', ...args, ...files], { env: { ...env, ...more } }),
      [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
    };
  }

  /** Requests and reports since this was called. */
  function counting() {
    const [signs, reports] = [server.operations('sign').length, server.operations('report-sign').length];
    return {
      signs: () => server.operations('sign').length - signs,
      reports: () =>
        server
          .operations('report-sign')
          .slice(reports)
          .map(({ status }) => status),
    };
  }

  it('keeps a signature without a timestamp for another day and another path', async () => {
    await using stage = await scene();
    const count = counting();
    const paths = [await stage.program('a.exe', 'one'), await stage.program('b.exe', 'two')];

    const down = await stage.sign(paths, ['-t', authority.urlOf('garbage')]);
    expect(down.code).toBe(7);
    const codes = parseJson(down).files.map(({ error }) => error?.code);
    expect(codes.sort()).toEqual(['not-attempted', 'timestamp-failed']);
    expect(parseJson(down).files.filter((file) => 'kept' in file && file.kept)).toHaveLength(1);
    expect(down.stderr).toContain('it is kept');
    // The next run can still write it.
    expect(count.reports()).toEqual([]);

    const moved = [await stage.program('elsewhere/c.exe', 'one'), await stage.program('elsewhere/d.exe', 'two')];
    const up = await stage.sign(moved, ['-t', authority.urlOf('ok')]);
    expect(up.code).toBe(0);
    expect(parseJson(up).files.filter((file) => 'reused' in file && file.reused)).toHaveLength(1);
    expect([count.signs(), count.reports()]).toEqual([2, [1, 1]]);
  });

  it('lists the digest of a written file only if the run needed this digest', async () => {
    await using run = await scene();
    const path = await run.program('a.exe', 'digest');
    const plain = await runCli(['sign', '--no-timestamp', await run.program('b.exe', 'no digest')], { env: run.env });
    expect(plain).toMatchObject({ code: 0 });
    const { sha256 } = firstFile(await run.sign([path]));
    expect(sha256).toBe(
      createHash('sha256')
        .update(await readFile(path))
        .digest('hex'),
    );
    const { calls } = JSON.parse((await runCli(['history', '--json'], { env: run.env })).stdout);
    const listed = calls.map((call: { file: string; sha256: string[] }) => [basename(call.file), call.sha256]);
    expect(Object.fromEntries(listed)).toEqual({ 'a.exe': [sha256], 'b.exe': [] });
  });

  it.runIf(process.platform === 'linux')('rejects a folder that cannot be made, and says why', async () => {
    await using stage = await scene();
    const path = await stage.program('a.exe', 'one');
    // No user can create files there, and Node's own recursive way of trying never ends.
    const run = await stage.sign([path], [], { CODESIGN_STATE_DIR: '/proc/state/of/mine' });
    expect([run.code, parseJson(run).error?.code]).toEqual([6, 'journal-unusable']);
    const elsewhere = await stage.sign([path], ['--no-timestamp', '--output', '/proc/out/a.exe']);
    expect([elsewhere.code, parseJson(elsewhere).files[0]?.error?.code]).toEqual([6, 'file-not-found']);
  });
});

describe('with a service that misbehaves once', () => {
  async function faulty(mode: ServiceMode, options: MisbehavingServiceOptions = {}) {
    const stage = await startScene(mode, { times: 1, ...options });
    return {
      ...stage,
      program: (name: string, content: string) => program(join(stage.folder, name), content),
      sign: (files: readonly string[], args: readonly string[] = []) =>
        stage.sign('--json', '--no-timestamp', ...args, ...files),
      requests: () => stage.service.signRequests(),
      reports: () => reports(stage),
    };
  }

  /** A certificate of another key than that of the service. */
  async function wrongCertificate(folder: string): Promise<{ readonly path: string; readonly fingerprint: string }> {
    const path = join(folder, 'wrong.pem');
    const { pem, der } = makePki('Other').leaf({ key: testKey('rsa-2048', 'other') });
    await writeFile(path, pem);
    return { path, fingerprint: createHash('sha256').update(der).digest('hex') };
  }

  it('with a wrong certificate pays for one signature, in all runs and for all files, and uses it with the right one', async () => {
    await using stage = await faulty('good');
    const wrong = await wrongCertificate(stage.folder);
    const path = await stage.program('a.exe', 'one');
    const others = await Promise.all(['b', 'c', 'd'].map((name) => stage.program(`${name}.exe`, name)));
    const runs = [[path], [path], [path, path], others, [...others, path]];

    for (const files of runs) {
      const run = await stage.sign(files, ['--certificate', wrong.path]);
      const errors = parseJson(run).files.flatMap(({ error }) => (error?.code === 'not-attempted' ? [] : [error]));
      expect([run.code, errors.map((error) => error?.code)]).toEqual([6, ['signature-mismatch']]);
      expect(errors[0]?.hint).toMatch(
        new RegExp(`certificate "[^"]+" \\(SHA-256: ${wrong.fingerprint}\\).* resume --forget \\w+,`),
      );
    }
    expect([stage.requests(), stage.reports()]).toEqual([1, [2]]);

    const right = await stage.sign([path]);
    expect([right.code, firstFile(right).reused]).toEqual([0, true]);
    expect((await stage.sign(others)).code).toBe(0);
    expect((await stage.sign([path], ['--certificate', wrong.path])).code).toBe(6);
    expect(stage.requests()).toBe(4);
  });

  it('requests again with the same certificate once the operator has changed the key and the call is forgotten', async () => {
    await using stage = await faulty('signature-wrong');
    const path = await stage.program('a.exe', 'one');
    await stage.sign([path]);
    const refused = await stage.sign([path]);
    const [, id = ''] = /resume --forget (\w+)/.exec(parseJson(refused).files[0]?.error?.hint ?? '') ?? [];
    expect((await stage.resume(['--forget', id])).code).toBe(0);
    expect((await stage.sign([path])).code).toBe(0);
    expect(stage.requests()).toBe(2);
    expect((await stage.resume(['--forget', id])).code).toBe(2);
  });

  it('with a wrong certificate and without a journal makes one request in a run, and advises nothing about a journal', async () => {
    await using stage = await faulty('good');
    const { path } = await wrongCertificate(stage.folder);
    const files = await Promise.all(['b', 'c'].map((name) => stage.program(`${name}.exe`, name)));
    const run = await stage.sign(files, ['--certificate', path, '--no-journal', '--concurrency', '8']);
    expect([run.code, stage.requests(), run.stdout.includes('--forget')]).toEqual([6, 1, false]);
  });
});
