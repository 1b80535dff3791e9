/** `doctor` with the real server and with what keeps `sign` from working: what it finds, its exit codes, and that it signs nothing. */

import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listen } from '../../../support/network/listen.ts';
import { fixture, runCli, temporaryFolder } from '../../../support/programs/cli.ts';
import { NO_AUTHORITY } from '../../../support/runs/resume-scene.ts';
import { useServer } from '../../../support/services/shared-server.ts';
import { forAll } from '../../../support/set-up.ts';
import { makePki } from '../../../support/signed-files/pki.ts';

const server = await forAll(useServer({ tsa: true }));
const folder = await forAll(temporaryFolder());

interface CheckJson {
  readonly name: string;
  readonly status: string;
  readonly text: string;
  readonly notes: readonly string[];
  readonly error: { readonly code: string; readonly hint: string } | null;
}

/** `env` replaces variables of the real server. */
async function examine(env: Readonly<Record<string, string>> = {}, args: readonly string[] = []) {
  const own = { CODESIGN_STATE_DIR: join(folder.path, 'state'), CODESIGN_CONFIG_DIR: join(folder.path, 'config') };
  const run = await runCli(['doctor', '--json', ...args], { env: { ...server.env, ...own, ...env } });
  const checks: readonly CheckJson[] = JSON.parse(run.stdout).checks;
  const named = (status: string) => checks.filter((check) => check.status === status).map(({ name }) => name);
  const errors = checks.flatMap(({ error }) => error?.code ?? []);
  return { run, checks, errors, notes: named('note'), skipped: named('not-checked') };
}

/** The service is not on this machine, because connections to this machine use no proxy. */
const THROUGH_DEAD_PROXY = { HTTPS_PROXY: 'http://127.0.0.1:9', CODESIGN_BASE_URL: 'https://sign.example' };

const FAULTS = { CODESIGN_CA_FILE: '', CODESIGN_CERTIFICATE: fixture('golden/intermediate.pem') };

describe('doctor', () => {
  it('finds nothing wrong with the real server, signs nothing and writes nothing', async () => {
    const { run, checks, errors, notes, skipped } = await examine();
    expect([run.code, errors, skipped]).toEqual([0, [], []]);
    // The root of a test authority is not one of the system's, nothing is stored, and this test has no keychain.
    expect(notes.filter((name) => name !== 'certificate')).toEqual(['profile', 'keychain', 'timestamp']);
    expect(checks.find(({ name }) => name === 'connection')?.text).toMatch(
      /^https:.*TLSv1\.\d, certificate of .*until 20/,
    );
    expect(checks.find(({ name }) => name === 'settings')?.text).toContain('from CODESIGN_BASE_URL');
    expect(server.operations('sign').filter(({ status }) => status === 200)).toEqual([]);
    expect(await readdir(folder.path)).toEqual([]);
  });

  it('sends nothing with --offline', async () => {
    const before = server.log();
    const { run, skipped } = await examine({ CODESIGN_BASE_URL: 'https://nothing.invalid' }, ['--offline']);
    expect([run.code, skipped]).toEqual([0, ['name', 'connection', 'clock', 'access', 'timestamp']]);
    expect(server.log()).toBe(before);
  });

  it.each([
    ['no settings', { CODESIGN_BASE_URL: '', CODESIGN_CODE: '' }, 2, ['setting-missing'], 'certificate'],
    ['an unknown profile', { CODESIGN_PROFILE: 'other' }, 2, ['profile-unknown'], 'settings'],
    ['wrong credentials', { CODESIGN_ACCESS_SECRET: 'wrong' }, 4, ['unauthorized'], undefined],
    ['no credentials', { CODESIGN_ACCESS_SECRET: '' }, 2, ['credentials-missing'], 'access'],
    ['an unknown host', { CODESIGN_BASE_URL: 'https://no.invalid' }, 3, ['service-unreachable'], 'connection'],
    ['a dead proxy', THROUGH_DEAD_PROXY, 3, ['proxy-unreachable'], 'clock'],
    ['a dead authority', { CODESIGN_TIMESTAMP_URL: 'http://127.0.0.1:9/' }, 7, ['timestamp-failed'], undefined],
    ['a state folder below a file', { CODESIGN_STATE_DIR: '/dev/null/state' }, 6, ['journal-unusable'], 'number'],
    ['a missing certificate', { CODESIGN_CERTIFICATE: '/no/such.pem' }, 6, ['certificate-file-missing'], 'number'],
    ['faults of two kinds', FAULTS, 9, ['certificate-not-for-code-signing', 'tls-untrusted'], 'access'],
  ])('reports %s with a remedy, and does not check what depends on it', async (_name, env, code, errors, skipped) => {
    const result = await examine(env);
    expect([result.run.code, result.errors]).toEqual([code, errors]);
    expect(result.checks.filter(({ error }) => error !== null && !error.hint)).toEqual([]);
    if (skipped === undefined) expect(result.skipped).toEqual([]);
    else expect(result.skipped).toContain(skipped);
  });

  it.skipIf(process.platform === 'win32')(
    'reports an expired certificate, and an unprotected state folder',
    async () => {
      const [path, state] = [join(folder.path, 'expired.pem'), join(folder.path, 'open-state')];
      const pki = makePki();
      await writeFile(path, pki.leaf({ notAfter: new Date('2024-01-01') }).pem + pki.intermediate.pem);
      await mkdir(state);
      await chmod(state, 0o777);
      const env = { CODESIGN_CERTIFICATE: path, CODESIGN_STATE_DIR: state };
      const { run, errors, checks } = await examine(env, ['--offline']);
      expect([run.code, errors]).toEqual([6, ['journal-unusable', 'certificate-expired']]);
      expect(checks.find(({ name }) => name === 'state')?.text).toContain('may be written by other users');
    },
  );

  it.each([
    [3, 0, 'note'],
    [15, 6, 'failed'],
  ])('compares the clock with a service that is %i minutes ahead', async (minutes, code, status) => {
    const service = createServer((_request, response) => {
      const date = new Date(Date.now() + minutes * 60_000).toUTCString();
      response.writeHead(400, { date }).end('{"code":400,"message":"","data":null}');
    });
    await using listening = await listen(service);
    const baseUrl = `http://127.0.0.1:${listening.port}`;
    const { run, checks } = await examine({ CODESIGN_BASE_URL: baseUrl }, ['--no-timestamp']);
    expect([run.code, checks.find(({ name }) => name === 'clock')?.status]).toEqual([code, status]);
  });

  it('reports a number that was used with another certificate, and calls that are unfinished', async () => {
    const state = join(folder.path, 'used-state');
    const target = join(folder.path, 'app.exe');
    const sign = ['sign', '--no-timestamp', fixture('pe/arm64.exe'), '--output', target];
    expect((await runCli(sign, { env: { ...server.env, CODESIGN_STATE_DIR: state } })).code).toBe(0);
    const same = await examine({ CODESIGN_STATE_DIR: state }, ['--offline']);
    expect(same.checks.find(({ name }) => name === 'number')).toMatchObject({ status: 'ok' });
    const failed = await runCli(['sign', ...NO_AUTHORITY, fixture('pe/hello.exe'), '-o', `${target}.new`], {
      env: { ...server.env, CODESIGN_STATE_DIR: state },
    });
    expect(failed.code).toBe(7);
    const env = { CODESIGN_STATE_DIR: state, CODESIGN_CERTIFICATE: fixture('golden/leaf-2048.pem') };
    const later = await examine(env, ['--offline']);
    expect(later.checks.find(({ name }) => name === 'number')?.notes).toEqual([
      expect.stringContaining('[number-of-other-certificate]'),
    ]);
    expect(later.checks.find(({ name }) => name === 'state')?.notes).toEqual([
      expect.stringMatching(/^1 call unfinished: .* \[calls-unfinished\]$/),
    ]);
  });
});
