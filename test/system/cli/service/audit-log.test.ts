/** `--audit-log` of the command line: what is kept of each call. What --verbose shows: sessions/recorded/cases/sign.txt. */

import { mkdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseJson, runCli, runCliProcess } from '../../../support/programs/cli.ts';
import { makePrograms, NO_AUTHORITY, startScene } from '../../../support/runs/resume-scene.ts';
import { useServer } from '../../../support/services/shared-server.ts';
import { folderForEach, forAll } from '../../../support/set-up.ts';

const server = await forAll(useServer({ bits: 2048 }));
const folder = folderForEach();

type Line = Readonly<Record<string, unknown>>;
const linesOf = async (path: string): Promise<readonly Line[]> =>
  (await readFile(path, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line): Line => JSON.parse(line));

describe('sign', () => {
  it('adds a line for each call, with the records that the result names', async () => {
    const paths = await makePrograms(folder.path, 3);
    const log = folder.at('audit.jsonl');
    const run = await runCli(['sign', '--json', '--audit-log', log, ...paths], { env: server.env });
    expect(run.code).toBe(0);
    const lines = await linesOf(log);
    const { files } = parseJson(run);
    for (const { path, record } of files) {
      const mine = lines.filter((line) => line.record === record);
      const accepted = { httpStatus: 200, serviceCode: 0, result: 'ok' };
      const common = { attempt: 1, origin: server.baseUrl, file: basename(path), ...accepted };
      const digest = { algorithm: 'SHA256', length: 32, masked: expect.stringMatching(/^.{4}….{3}=$/) };
      expect(mine).toEqual([
        expect.objectContaining({ ...common, operation: 'sign', code: server.env.CODESIGN_CODE, digest, status: null }),
        expect.objectContaining({ ...common, operation: 'report-sign', code: null, digest: null, status: 1 }),
      ]);
    }
    expect(lines).toHaveLength(6);
    expect((await stat(log)).mode & 0o777).toBe(0o600);
    const text = await readFile(log, 'utf8');
    expect(text).not.toMatch(/[A-Za-z0-9+/]{28}/);
  });

  it.each<[readonly string[], (path: string) => unknown]>([
    [['--file-name', 'hide'], () => null],
    [['--extra', 'signing_filename=product.exe'], () => 'product.exe'],
    [['--extra', 'hostname='], (path) => basename(path)],
  ])('%s: holds the file name that the service gets', async (args, expected) => {
    const [path = ''] = await makePrograms(folder.path, 1);
    const log = folder.at('audit.jsonl');
    const env = { ...server.env, CODESIGN_AUDIT_LOG: log };
    expect(await runCli(['sign', ...args, path], { env })).toMatchObject({ code: 0 });
    expect((await linesOf(log)).map(({ file }) => file)).toEqual([expected(path), expected(path)]);
  });

  it('is shared by several processes concurrently, no line of one within a line of another', async () => {
    const log = folder.at('audit.jsonl');
    const env = { ...server.env, CODESIGN_AUDIT_LOG: log };
    const runs = ['a', 'b', 'c'].map(async (name) => {
      await mkdir(folder.at(name));
      return runCliProcess(['sign', ...(await makePrograms(folder.at(name), 4))], { env });
    });
    for (const run of await Promise.all(runs)) expect(run).toMatchObject({ code: 0 });
    expect(await linesOf(log)).toHaveLength(24);
  });

  it.runIf(process.platform === 'linux')('continues, and warns once, when the log is full', async () => {
    const paths = await makePrograms(folder.path, 2);
    const run = await runCli(['sign', '--audit-log', '/dev/full', ...paths], { env: server.env });
    expect(run.code).toBe(0);
    expect(run.stderr.match(/warning {2}the audit log \/dev\/full could not be written \(.+\)/g)).toHaveLength(1);
  });
});

it('resume logs what it reports, whether it writes the file, sends only a report, or forgets a call', async () => {
  await using stage = await startScene('good');
  const log = join(stage.folder, 'audit.jsonl');
  await stage.sign(...NO_AUTHORITY, stage.path);
  const resumed = await stage.resume(['--no-timestamp', '--verbose', '--audit-log', log]);
  expect(resumed).toMatchObject({ code: 0, stderr: expect.stringMatching(/^called {3}report-sign app\.exe: HTTP/m) });
  expect(await linesOf(log)).toMatchObject([{ operation: 'report-sign', status: 1, file: 'app.exe', result: 'ok' }]);

  await using other = await startScene('good');
  const env = { CODESIGN_AUDIT_LOG: log };
  await other.sign(...NO_AUTHORITY, other.path);
  const { calls } = await other.resume(['--dry-run'], env);
  expect(await linesOf(log)).toHaveLength(1);
  await other.resume(['--forget', calls[0]?.id ?? ''], env);
  expect((await linesOf(log)).slice(1)).toMatchObject([{ operation: 'report-sign', status: 2, file: 'app.exe' }]);
});

const whoami = (env: Readonly<Record<string, string>>, ...args: readonly string[]) =>
  runCli(['whoami', ...args], { env: { ...server.env, ...env } });

it('whoami --check logs its own call, accepted or rejected, and no other', async () => {
  const log = folder.at('audit.jsonl');
  expect(await whoami({ CODESIGN_AUDIT_LOG: log })).toMatchObject({ code: 0 });
  await expect(stat(log)).rejects.toMatchObject({ code: 'ENOENT' });
  expect(await whoami({ CODESIGN_AUDIT_LOG: log }, '--check')).toMatchObject({ code: 0 });
  const wrong = { CODESIGN_AUDIT_LOG: log, CODESIGN_ACCESS_SECRET: 'another-secret-of-a-test' };
  expect((await whoami(wrong, '--check')).code).not.toBe(0);
  const nobody = { CODESIGN_AUDIT_LOG: log, CODESIGN_BASE_URL: 'https://127.0.0.1:9' };
  expect(await whoami(nobody, '--check')).toMatchObject({ code: 3 });
  const nothing = { code: null, digest: null, file: null, record: null, status: null };
  const common = { ...nothing, operation: 'check', attempt: 1, time: expect.any(String) };
  expect(await linesOf(log)).toMatchObject([
    { ...common, origin: server.baseUrl, serviceCode: 400, result: 'ok' },
    { ...common, origin: server.baseUrl, serviceCode: 401, result: 'unauthorized' },
    { ...common, origin: 'https://127.0.0.1:9', httpStatus: null, serviceCode: null, result: 'service-unreachable' },
  ]);
});
