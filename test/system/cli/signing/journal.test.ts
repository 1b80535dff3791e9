/** `codesign-remote sign` and its journal: what one run is given, the next one uses, whatever happened in between. */

import { createHash } from 'node:crypto';
import { appendFile, chmod, chown, copyFile, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type CliOptions,
  fixture,
  parseJson,
  programForOthers,
  runCli,
  snapshot,
  temporaryFolder,
} from '../../../support/programs/cli.ts';
import type { MisbehaviourName } from '../../../support/services/misbehaving-answers.ts';
import {
  type MisbehavingServiceOptions,
  type ServiceMode,
  startMisbehavingService,
} from '../../../support/services/misbehaving-service.ts';
import { environmentOf } from '../../../support/services/service-client.ts';
import { type SharedServer, useServer } from '../../../support/services/shared-server.ts';
import { startTimestampAuthority, type TimestampAuthority } from '../../../support/services/timestamp-authority.ts';
import { makePki, testKey } from '../../../support/signed-files/pki.ts';

interface Scene extends AsyncDisposable {
  readonly folder: string;
  readonly state: string;
  /** A program of its own content for each word. */
  program(name: string, content: string): Promise<string>;
  /** Without timestamps, and with the scene's journal. */
  sign(
    files: readonly string[],
    args?: readonly string[],
    env?: Record<string, string>,
    onStart?: CliOptions['onStart'],
  ): ReturnType<typeof runCli>;
  resume(...args: readonly string[]): ReturnType<typeof runCli>;
}

async function scene(
  env: Readonly<Record<string, string>>,
  args: readonly string[] = ['--no-timestamp'],
): Promise<Scene> {
  const folder = await temporaryFolder('codesign-journal-');
  const state = join(folder.path, 'state');
  return {
    folder: folder.path,
    state,
    async program(name, content) {
      const path = join(folder.path, name);
      await mkdir(join(path, '..'), { recursive: true });
      await copyFile(fixture('pe/hello.exe'), path);
      await appendFile(path, content.padEnd(16));
      return path;
    },
    sign: (files, more = [], changed = {}, onStart = undefined) =>
      runCli(['sign', '--json', '--timeout', '2', ...args, ...more, ...files], {
        env: { ...env, CODESIGN_STATE_DIR: state, ...changed },
        ...(onStart === undefined ? {} : { onStart }),
      }),
    resume: (...more) =>
      runCli(['resume', '--json', '--no-timestamp', ...more], { env: { ...env, CODESIGN_STATE_DIR: state } }),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

const firstFile = (run: Awaited<ReturnType<typeof runCli>>) => JSON.parse(run.stdout).files[0];

describe('with the real service', () => {
  let server: SharedServer;
  let authority: TimestampAuthority;
  beforeAll(async () => {
    [server, authority] = await Promise.all([useServer(), startTimestampAuthority()]);
  }, 120_000);
  afterAll(() => Promise.all([server.stop(), authority.stop()]));

  /** Requests, and what was reported of each record, since this was called. One report may be sent twice. */
  function counting() {
    // That an answer could not be sent to a process that was killed has a line of its own.
    const logged = () => server.operations('sign').filter(({ outcome }) => outcome !== 'not-sent').length;
    const signs = logged();
    const before = server.operations('report-sign').length;
    return {
      signs: () => logged() - signs,
      reports() {
        const sent = server.operations('report-sign').slice(before);
        return [...new Set(sent.map(({ record, status }) => `${record}: ${status}`))].map((text) =>
          Number(text.at(-1)),
        );
      },
    };
  }

  it('keeps a signature without a timestamp for another day and another path', async () => {
    await using stage = await scene(server.env, []);
    const count = counting();
    const paths = [await stage.program('a.exe', 'one'), await stage.program('b.exe', 'two')];

    const down = await stage.sign(paths, ['-t', authority.urlOf('garbage')]);
    expect(down.code).toBe(7);
    expect(
      parseJson(down)
        .files.map(({ error }) => error?.code)
        .sort(),
    ).toEqual(['not-attempted', 'timestamp-failed']);
    const failed = JSON.parse(down.stdout).files.find(({ record }: { record: string | null }) => record !== null);
    expect(failed).toMatchObject({ kept: true });
    expect(down.stderr).toContain('it is kept');
    // The next run can still write it.
    expect(count.reports()).toEqual([]);

    const moved = [await stage.program('elsewhere/c.exe', 'one'), await stage.program('elsewhere/d.exe', 'two')];
    const up = await stage.sign(moved, ['-t', authority.urlOf('ok')]);
    expect(up.code).toBe(0);
    expect(
      JSON.parse(up.stdout)
        .files.map(({ reused }: { reused: boolean }) => reused)
        .sort(),
    ).toEqual([false, true]);
    expect(count.signs()).toBe(2);
    expect(count.reports()).toEqual([1, 1]);
  });

  it('sends one request for files of the same content, and reports after all are written', async () => {
    await using stage = await scene(server.env);
    const count = counting();
    const paths = await Promise.all(['a', 'b', 'c'].map((name) => stage.program(`${name}.exe`, 'the same')));

    const run = await stage.sign(paths);

    expect(run.code).toBe(0);
    const signed = await Promise.all(paths.map((path) => readFile(path)));
    expect(signed.every((bytes) => bytes.equals(signed[0] ?? Buffer.of()))).toBe(true);
    expect(count.signs()).toBe(1);
    expect(count.reports()).toEqual([1]);
    expect(JSON.parse(run.stdout).files.filter(({ reused }: { reused: boolean }) => !reused)).toHaveLength(1);
    expect(parseJson(run).files.map(({ reported }) => reported)).toEqual([true, true, true]);
  });

  it('requests once what two processes sign concurrently', async () => {
    await using stage = await scene(server.env);
    const count = counting();
    const contents = ['1', '2', '3', '4'];
    const [mine, yours] = await Promise.all(
      ['mine', 'yours'].map((whose) =>
        Promise.all(contents.map((content) => stage.program(`${whose}/${content}.exe`, content))),
      ),
    );

    const runs = await Promise.all([mine, yours].map((paths = []) => stage.sign(paths, [], {}, () => undefined)));

    expect(runs.map(({ code }) => code)).toEqual([0, 0]);
    for (const [index, path] of (mine ?? []).entries()) {
      expect(await readFile(path)).toEqual(await readFile(yours?.[index] ?? ''));
    }
    expect(count.signs()).toBe(4);
    expect(count.reports()).toEqual([1, 1, 1, 1]);
  });

  it('requests nothing twice when a killed run is repeated, nor for files that were finished next to a failed one', async () => {
    await using stage = await scene(server.env);
    const count = counting();
    const paths = await Promise.all(['1', '2', '3', '4', '5', '6'].map((name) => stage.program(`${name}.exe`, name)));
    const finished = () => count.reports().length;
    await stage.sign(paths, ['-j', '1'], {}, async (kill) => {
      await expect.poll(finished, { interval: 2, timeout: 20_000 }).toBeGreaterThan(1);
      kill('SIGKILL');
    });
    const killedAt = count.signs();
    expect(killedAt).toBeLessThan(6);

    const bad = join(stage.folder, 'bad.exe');
    await writeFile(bad, 'text');
    const again = await stage.sign([...paths, bad]);
    expect(again.code).toBe(6);
    const warned = JSON.parse(again.stdout).files.filter(
      ({ warnings }: { warnings: string[] }) => warnings.length > 0,
    ).length;
    const records = parseJson(again).files.flatMap(({ record }) => record ?? []);
    expect(records, again.stdout).toHaveLength(6);
    // The server's log comes a little later than its answers.
    const logged = () => server.operations('sign').map(({ record }) => record);
    await expect.poll(logged).toEqual(expect.arrayContaining(records));
    const asked = count.signs();
    // What was under way when it was killed may have been counted.
    expect(asked - warned, `${killedAt} ${again.stdout}`).toBeLessThanOrEqual(6);

    expect((await stage.sign(paths)).code).toBe(0);
    expect(count.signs()).toBe(asked);
    expect(count.reports()).toEqual(Array(6).fill(1));
    // That one ended well: the service is asked, and keeps a record of each.
    expect((await stage.sign(paths)).code).toBe(0);
    await expect.poll(count.signs).toBe(asked + 6);
  });

  it('leaves a file unchanged, without a warning, that an earlier run signed next to one that failed', async () => {
    await using stage = await scene(server.env);
    const path = await stage.program('app.exe', 'one');
    const append = ['sign', '--append', '--no-timestamp', path];
    const env = { ...server.env, CODESIGN_STATE_DIR: stage.state };
    expect((await runCli([...append, join(stage.folder, 'mistyped.exe')], { env })).code).toBe(6);
    const signed = await snapshot(stage.folder);

    const again = await runCli(append, { env });
    expect(again).toEqual({ code: 0, stdout: `unchanged ${path}  (already has this signature)\n`, stderr: '' });
    const { [join(stage.folder, 'app.exe')]: digest } = await snapshot(stage.folder);
    expect(digest).toBe(signed[path]);
  });

  it.runIf(process.platform === 'linux')('rejects a folder that cannot be made, and says why', async () => {
    await using stage = await scene(server.env);
    const path = await stage.program('a.exe', 'one');
    // No user can create files there, and Node's own recursive way of trying never ends.
    const run = await stage.sign([path], [], { CODESIGN_STATE_DIR: '/proc/state/of/mine' });
    expect([run.code, parseJson(run).error?.code]).toEqual([6, 'journal-unusable']);
    const elsewhere = await stage.sign([path], ['--output', '/proc/out/a.exe']);
    expect([elsewhere.code, parseJson(elsewhere).files[0]?.error?.code]).toEqual([6, 'file-not-found']);
  });

  it('contains no secret, and only its user can read it', async () => {
    await using stage = await scene(server.env);
    // A process of its own has closed the journal for certain: libsql does so only when it collects garbage.
    const run = await stage.sign([await stage.program('a.exe', 'one')], [], {}, () => undefined);
    expect(run.code).toBe(0);
    const secrets = [server.env.CODESIGN_ACCESS_KEY, server.env.CODESIGN_ACCESS_SECRET, 'Authorization', 'Basic '];
    const entries = await readdir(stage.state, { recursive: true, withFileTypes: true });
    expect(entries.some((entry) => entry.isFile())).toBe(true);
    for (const entry of entries) {
      const path = join(entry.parentPath, entry.name);
      if (process.platform !== 'win32') {
        expect([path, (await stat(path)).mode & 0o777]).toEqual([path, entry.isFile() ? 0o600 : 0o700]);
      }
      const text = entry.isFile() ? await readFile(path, 'utf8') : '';
      for (const secret of secrets) expect(`${path}\n${text}`).not.toContain(secret);
    }
    if (process.platform !== 'win32') expect((await stat(stage.state)).mode & 0o777).toBe(0o700);
  });

  it.runIf(process.platform !== 'win32')(
    'in a folder that is read-only: rejects, or continues without it',
    async () => {
      await using stage = await scene(server.env);
      const count = counting();
      // Root may write everywhere, so another user signs, with copies of what only root may read.
      const user = process.getuid?.() === 0 ? 65_534 : undefined;
      const [path, certificate, caFile] = [
        await stage.program('a.exe', 'one'),
        ...['leaf.pem', 'ca.pem'].map((name) => join(stage.folder, name)),
      ];
      await copyFile(server.env.CODESIGN_CERTIFICATE ?? '', certificate ?? '');
      await copyFile(server.env.CODESIGN_CA_FILE ?? '', caFile ?? '');
      await mkdir(stage.state);
      for (const each of [stage.folder, stage.state, path, certificate ?? '', caFile ?? '']) {
        if (user !== undefined) await chown(each, user, user);
      }
      await chmod(stage.state, 0o555);
      const env = {
        ...server.env,
        CODESIGN_STATE_DIR: stage.state,
        CODESIGN_CONFIG_DIR: stage.folder,
        CODESIGN_CERTIFICATE: certificate ?? '',
        CODESIGN_CA_FILE: caFile ?? '',
      };
      const other = user === undefined ? {} : { uid: user, ...(await programForOthers()) };
      const run = (...args: readonly string[]) =>
        runCli(['sign', '--json', '--no-timestamp', ...args, path], { env, ...other });

      const refused = await run();
      expect([refused.code, parseJson(refused).error?.code]).toEqual([6, 'journal-unusable']);
      expect(count.signs()).toBe(0);
      expect((await run('--no-journal')).code).toBe(0);
      expect(count.signs()).toBe(1);
      await chmod(stage.state, 0o755);
    },
  );

  it('that is unusable: rejects before the first request, and continues without it on request', async () => {
    await using stage = await scene(server.env);
    const count = counting();
    await writeFile(stage.state, 'a file where the folder is to be');
    const path = await stage.program('a.exe', 'one');
    const untouched = await snapshot(stage.folder);

    const refused = await stage.sign([path]);
    expect([refused.code, parseJson(refused).error?.code]).toEqual([6, 'journal-unusable']);
    expect(parseJson(refused).error?.hint).toContain('--no-journal');
    expect(await snapshot(stage.folder)).toEqual(untouched);
    expect(count.signs()).toBe(0);

    const without = await stage.sign([path], ['--no-journal']);
    expect(without.code).toBe(0);
    expect(JSON.parse(without.stdout).warnings.join()).toContain('without a journal');
    expect([count.signs(), count.reports()]).toEqual([1, [1]]);
  });
});

describe('with a service that misbehaves once', () => {
  const pki = makePki();
  const leaf = pki.leaf();

  async function faulty(mode: ServiceMode, options: MisbehavingServiceOptions = {}) {
    const service = await startMisbehavingService(mode, { key: leaf.privateKey, times: 1, ...options });
    const certificate = join(service.caFile, '..', 'chain.pem');
    await writeFile(certificate, leaf.pem + pki.intermediate.pem);
    const stage = await scene(environmentOf(service, certificate));
    const reports = () =>
      service
        .requests()
        .filter(({ path }) => path.endsWith('/report-sign'))
        .map(({ body }) => JSON.parse(body).status);
    const stop = async () => {
      await stage[Symbol.asyncDispose]();
      await service.stop();
    };
    return { ...stage, service, reports, [Symbol.asyncDispose]: stop };
  }

  /** What the second run must do, and whether it must warn that the first call may have been counted: may-have-been-counted.test.ts has all. */
  const SECOND_RUNS: readonly (readonly [MisbehaviourName, 'requests again and warns' | 'requests again'])[] = [
    ['breaks-during-body', 'requests again and warns'],
    ['hangs', 'requests again and warns'],
    ['signature-not-base64', 'requests again and warns'],
    ['server-error', 'requests again'],
    ['unauthorized-401', 'requests again'],
  ];

  it.concurrent.each(SECOND_RUNS)('%s: the second run %s', async (mode, does) => {
    await using stage = await faulty(mode);
    const path = await stage.program('a.exe', 'one');
    expect((await stage.sign([path])).code).toBeGreaterThan(0);
    expect(stage.service.signRequests()).toBe(1);

    const again = await stage.sign([path]);

    expect(again.code).toBe(0);
    expect(stage.service.signRequests()).toBe(2);
    const warns = JSON.stringify(firstFile(again).warnings).includes('may have been counted');
    expect(warns).toBe(does === 'requests again and warns');
    expect(stage.reports().filter((status) => status === 1)).toHaveLength(1);
  });

  it('warns of the unknown call also when the second run fails as well', async () => {
    await using stage = await faulty('breaks-before-answer', { times: 2 });
    const path = await stage.program('a.exe', 'one');
    await stage.sign([path]);
    const again = await stage.sign([path]);
    expect(parseJson(again).files[0]?.error?.code).toBe('connection-broken');
    expect(firstFile(again).warnings.join()).toContain('may have been counted');
    // Two are unknown by then.
    expect(firstFile(await stage.sign([path])).warnings).toHaveLength(2);
  });

  it.each(['breaks-after-answer', 'throttled'] as const)('%s: the first run signs', async (mode) => {
    await using stage = await faulty(mode);
    const run = await stage.sign([await stage.program('a.exe', 'one')]);
    expect(run.code).toBe(0);
    expect(firstFile(run).warnings).toEqual([]);
  });

  it('does not request a signature twice in one run for the same content if no answer came', async () => {
    await using stage = await faulty('breaks-before-answer');
    const paths = [await stage.program('a.exe', 'same'), await stage.program('b.exe', 'same')];
    const run = await stage.sign(paths);
    expect(stage.service.signRequests()).toBe(1);
    expect(
      parseJson(run)
        .files.map(({ error }) => error?.code)
        .sort(),
    ).toEqual(['connection-broken', 'not-attempted']);
  });

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
      const codes = parseJson(run).files.map(({ error }) => error?.code);
      expect([run.code, codes.filter((code) => code !== 'not-attempted')]).toEqual([6, ['signature-mismatch']]);
      const hint = parseJson(run).files.find(({ error }) => error?.code === 'signature-mismatch')?.error?.hint;
      expect(hint).toMatch(
        new RegExp(`certificate "[^"]+" \\(SHA-256: ${wrong.fingerprint}\\).* resume --forget \\w+,`),
      );
    }
    expect([stage.service.signRequests(), stage.reports()]).toEqual([1, [2]]);

    const right = await stage.sign([path]);
    expect([right.code, firstFile(right).reused]).toEqual([0, true]);
    expect((await stage.sign(others)).code).toBe(0);
    expect((await stage.sign([path], ['--certificate', wrong.path])).code).toBe(6);
    expect(stage.service.signRequests()).toBe(4);
  });

  it('requests again with the same certificate once the operator has changed the key and the call is forgotten', async () => {
    await using stage = await faulty('signature-wrong');
    const path = await stage.program('a.exe', 'one');
    await stage.sign([path]);
    const refused = await stage.sign([path]);
    const [, id = ''] = /resume --forget (\w+)/.exec(parseJson(refused).files[0]?.error?.hint ?? '') ?? [];
    expect((await stage.resume('--forget', id)).code).toBe(0);
    expect((await stage.sign([path])).code).toBe(0);
    expect(stage.service.signRequests()).toBe(2);
    expect((await stage.resume('--forget', id)).code).toBe(2);
  });

  it('with a wrong certificate and without a journal makes one request in a run, and advises nothing about a journal', async () => {
    await using stage = await faulty('good');
    const { path } = await wrongCertificate(stage.folder);
    const files = await Promise.all(['b', 'c'].map((name) => stage.program(`${name}.exe`, name)));
    const run = await stage.sign(files, ['--certificate', path, '--no-journal', '--concurrency', '8']);
    expect([run.code, stage.service.signRequests(), run.stdout.includes('--forget')]).toEqual([6, 1, false]);
  });
});
