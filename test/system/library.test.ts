/** The library as build tools import it: the built one, against the real server. */

import { readdirSync, readlinkSync } from 'node:fs';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import type * as Library from '../../src/index.ts';
import { zipOf } from '../support/containers/make-zip.ts';
import { fixture, REPOSITORY } from '../support/programs/cli.ts';
import { useServer } from '../support/services/shared-server.ts';
import { folderForAll, folderForEach, forAll } from '../support/set-up.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const library: typeof Library = await import(join(REPOSITORY, 'dist', 'index.js'));
const server = await forAll(useServer({ tsa: true }));
const state = folderForAll();

const folder = folderForEach();

describe('signFiles', () => {
  it('signs in place and elsewhere, reports events, and takes numbers for numbers', async () => {
    const path = folder.at('app.exe');
    await copyFile(fixture('pe/hello.exe'), path);
    const output = folder.at('signed.dll');
    const events: string[] = [];
    const { files, summary } = await library.signFiles({
      files: [path, { path: fixture('pe/library.dll'), output }],
      env: { ...server.env, CODESIGN_STATE_DIR: state },
      concurrency: 2,
      timeout: 20,
      onEvent: ({ type }) => events.push(type),
    });
    expect(summary).toEqual({ signed: 2, unchanged: 0, skipped: 0, failed: 0, planned: 0, notAttempted: 0 });
    expect(files.map((file) => file.status === 'signed' && file.reported)).toEqual([true, true]);
    expect(events.filter((type) => type === 'file-finished')).toHaveLength(2);
    expect((await readFile(output)).length).toBeGreaterThan((await readFile(fixture('pe/library.dll'))).length);
  });

  it('treats each call as a separate run: the same file is signed again', async () => {
    const env = { ...server.env, CODESIGN_STATE_DIR: folder.at('state') };
    const file = { path: fixture('pe/hello.exe'), output: folder.at('signed.exe') };
    const recordOf = async () => {
      const [signed] = (await library.signFiles({ files: [file], timestamp: false, env })).files;
      return signed?.status === 'signed' ? signed.record : signed;
    };
    const first = await recordOf();
    expect(first).toEqual(expect.any(String));
    const second = await recordOf();
    expect([typeof second, second === first]).toEqual(['string', false]);
  });

  it('gives each file its outcome, and throws a CodesignError for the run as a whole', async () => {
    const { files } = await library.signFiles({
      files: ['/no/such/file.exe'],
      env: { ...server.env, CODESIGN_STATE_DIR: state },
    });
    expect(files[0]).toMatchObject({ status: 'failed', error: { code: 'file-not-found', category: 'local' } });
    const withoutSettings = library.signFiles({ files: [], env: {} });
    await expect(withoutSettings).rejects.toBeInstanceOf(library.CodesignError);
    await expect(withoutSettings).rejects.toMatchObject({ code: 'setting-missing', category: 'usage' });
  });

  it.runIf(process.platform === 'linux')(
    'keeps no file of the journal open, also after a run that failed',
    async () => {
      const env = { ...server.env, CODESIGN_STATE_DIR: folder.at('state') };
      await library.signFiles({ files: ['/no/such/file.exe'], timestamp: false, env });
      await expect(
        library.signFiles({ files: [fixture('pe/hello.exe')], maxSignatures: 0, timestamp: false, env }),
      ).rejects.toBeInstanceOf(library.CodesignError);
      const pathOf = (fd: string): string => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`);
        } catch {
          return 'closed meanwhile';
        }
      };
      const open = (): readonly string[] => {
        // A connection of libsql is closed when its statements have been collected.
        collectGarbage();
        return readdirSync('/proc/self/fd')
          .map(pathOf)
          .filter((path) => path.startsWith(env.CODESIGN_STATE_DIR));
      };
      await expect.poll(open).toEqual([]);
    },
  );

  it('reads nothing from the process on its own', async () => {
    process.env.CODESIGN_CERTIFICATE = '/from/the/process.pem';
    try {
      const { baseUrl, CODESIGN_CODE: code = '' } = { baseUrl: server.baseUrl, ...server.env };
      const signing = library.signFiles({ files: [fixture('pe/hello.exe')], baseUrl, code });
      await expect(signing).rejects.toMatchObject({ code: 'setting-missing' });
    } finally {
      delete process.env.CODESIGN_CERTIFICATE;
    }
  });

  it('uses a profile that is named directly or by env, and otherwise no file', async () => {
    const { CODESIGN_CERTIFICATE: certificate, CODESIGN_CODE: code } = server.env;
    const profiles = {
      default: { certificate, algorithm: 'SHA512' },
      work: { certificate, code, algorithm: 'SHA384' },
    };
    await writeFile(folder.at('config.json'), JSON.stringify({ profiles }));
    const env = { CODESIGN_CONFIG_DIR: folder.path };
    const algorithmOf = async (options: Partial<Library.SignFilesOptions>) => {
      const { files } = await library.signFiles({ files: [fixture('pe/hello.exe')], dryRun: true, ...options });
      return files[0]?.status === 'planned' && files[0].algorithm;
    };
    expect(await algorithmOf({ env, profile: 'work' })).toBe('SHA384');
    expect(await algorithmOf({ env: { ...env, CODESIGN_PROFILE: 'default' } })).toBe('SHA512');
    await expect(algorithmOf({ env, profile: 'wrok' })).rejects.toMatchObject({ code: 'profile-unknown' });
    await expect(algorithmOf({ env })).rejects.toMatchObject({ code: 'setting-missing' });
  });
});

describe('timestampFiles, removeSignatures, resume and history', () => {
  it('do what the commands do', async () => {
    const env = { ...server.env, CODESIGN_STATE_DIR: folder.at('state') };
    const path = folder.at('app.exe');
    await copyFile(fixture('pe/hello.exe'), path);
    await library.signFiles({ files: [path], timestamp: false, report: false, env });

    const timestampUrl = [server.env.CODESIGN_TIMESTAMP_URL ?? ''];
    const stamped = await library.timestampFiles({ files: [path], timestampUrl, env });
    expect(stamped.files).toMatchObject([{ path, status: 'timestamped', signatures: 1 }]);
    await expect(library.timestampFiles({ files: [path] })).rejects.toMatchObject({ code: 'setting-missing' });
    const removed = await library.removeSignatures({ files: [path, '/no/such/file.exe'] });
    expect(removed.files).toMatchObject([
      { status: 'removed' },
      { status: 'failed', error: { code: 'file-not-found' } },
    ]);
    expect((await readFile(path)).equals(await readFile(fixture('pe/hello.exe')))).toBe(true);

    const calls: Library.HistoryEntry[] = [];
    for await (const call of library.history({ env, limit: 1, file: ['*.exe'] })) calls.push(call);
    expect(calls).toMatchObject([{ outcome: 'written', origin: server.baseUrl, file: path }]);
    expect(await library.resume({ env })).toEqual({ calls: [], warnings: [] });
    await expect(library.resume({ env, forget: ['x'] })).rejects.toMatchObject({ code: 'no-such-call' });
  });
});

describe('verifyFile and inspectFile', () => {
  const signed = fixture('golden/sha256-rsa2048.exe');

  it('give a verdict, and the content of a signature', async () => {
    const roots = fixture('golden/root.pem');
    const verified = await library.verifyFile(signed, { roots, signer: 'Golden RSA 2048' });
    expect(verified).toMatchObject({ verdict: 'trusted', signatures: [{ signer: { root: { name: 'Golden Root' } } }] });
    expect(verified.signatures[0]?.signer.path[0]?.notAfter).toBeInstanceOf(Date);
    const inspected = await library.inspectFile(signed);
    expect(inspected).toMatchObject({ format: 'pe', signatures: [{ signer: 'Golden RSA 2048', intact: true }] });
  });

  it('throw a CodesignError for invalid settings, and report what prevents reading a file', async () => {
    await expect(library.verifyFile(signed, { roots: '/no/such.pem' })).rejects.toMatchObject({
      code: 'roots-unreadable',
    });
    const missing = await library.verifyFile('/no/such/file.exe', { integrityOnly: true });
    expect(missing).toMatchObject({ verdict: null, error: { code: 'file-not-found' } });
    await expect(library.inspectFile('/no/such/file.exe')).rejects.toMatchObject({ code: 'file-not-found' });
  });
});

describe('verifyFiles', () => {
  const signed = fixture('golden/sha256-rsa2048.exe');
  const unsigned = fixture('pe/hello.exe');
  const roots = fixture('golden/root.pem');
  const results = ({ files }: Library.VerifyFilesResult) =>
    files.map((list) => list.map(({ path, result, cause }) => [path.at(-1), result, cause]));

  it('verifies files alone, or with the files inside, or by a policy', async () => {
    const archive = folder.at('win', 'app.zip');
    await mkdir(folder.at('win'));
    await writeFile(archive, zipOf({ 'app.exe': await readFile(signed), 'tool.exe': await readFile(unsigned) }));

    const alone = await library.verifyFiles([signed, unsigned, archive], { roots });
    expect(results(alone)).toEqual([
      [[signed, 'good', undefined]],
      [[unsigned, 'failed', 'unsigned']],
      [[archive, 'failed', 'unsupported-format']],
    ]);
    expect(alone.isAccepted).toBe(false);

    const inside = await library.verifyFiles([archive], { inside: true, roots });
    const outer = [archive, 'not-required', undefined];
    const app = ['app.exe', 'good', undefined];
    expect(results(inside)).toEqual([[outer, app, ['tool.exe', 'failed', 'unsigned']]]);

    const policy = folder.at('policy.json');
    const rules = [{ files: 'win/*.zip!/tool.exe', require: 'intact', reason: 'built by a supplier' }];
    await writeFile(policy, JSON.stringify({ version: 1, roots: [roots], rules, minimum: { '*.exe': 2 } }));
    const byPolicy = await library.verifyFiles([archive], { policy, folder: folder.path });
    expect(results(byPolicy)).toEqual([[outer, app, ['tool.exe', 'exempt', undefined]]]);
    expect(byPolicy).toMatchObject({ isAccepted: false, minimum: [{ pattern: '*.exe', least: 2, good: 1 }] });
    const both = await library.verifyFiles([archive, signed], { policy, folder: folder.path });
    expect(both.isAccepted).toBe(true);
    expect((await library.verifyFiles([archive, '/no/such/file'], { policy, folder: folder.path })).isAccepted).toBe(
      false,
    );
  });
});
