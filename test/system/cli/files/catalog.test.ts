/** `codesign-remote catalog` as a user runs it: the catalog is created unsigned, signed by `sign`, and read by OpenSSL and osslsigncode. */

import { execFile } from 'node:child_process';
import { appendFileSync, renameSync, rmSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { composeReading } from '../../../../src/app/compose-local.ts';
import { readMembers } from '../../../../src/cli/commands/catalog.ts';
import { readCatalog } from '../../../../src/formats/cat/list.ts';
import { fixture, parseJson, runCli, snapshot, temporaryFolder } from '../../../support/programs/cli.ts';
import { openssl } from '../../../support/programs/openssl.ts';
import { type SharedServer, useServer } from '../../../support/services/shared-server.ts';

const run = promisify(execFile);

/** With a program, a text and a document in a folder below. */
async function sceneOf() {
  const folder = await temporaryFolder();
  await copyFile(fixture('pe/hello.exe'), join(folder.path, 'app.exe'));
  await writeFile(join(folder.path, 'notes.txt'), 'notes');
  await mkdir(join(folder.path, 'more'));
  await writeFile(join(folder.path, 'more', 'third.bin'), 'third');
  const catalog = (args: readonly string[]) => runCli(['catalog', ...args], { cwd: folder.path });
  const namesIn = async (name = 'app.cat') =>
    new Set(
      readCatalog(await readFile(join(folder.path, name))).members.flatMap(({ attributes }) =>
        attributes.map(({ value }) => value),
      ),
    );
  return { ...folder, catalog, namesIn, at: (name: string) => join(folder.path, name) };
}

describe('catalog', () => {
  it('creates an unsigned catalog with the time of the run, and says how to sign it', async () => {
    await using scene = await sceneOf();
    const before = Math.floor(Date.now() / 1000) * 1000;
    const { code, stdout, stderr } = await scene.catalog(['app.exe', 'notes.txt', 'more/third.bin', '-o', 'app.cat']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toBe('created app.cat  (3 files); sign it with: codesign-remote sign app.cat\n');
    const bytes = await readFile(scene.at('app.cat'));
    const { cms, time, members } = readCatalog(bytes);
    expect([cms, members.length]).toEqual([undefined, 6]);
    expect(time.getTime()).toBeGreaterThanOrEqual(before);
    expect(time.getTime()).toBeLessThanOrEqual(Date.now());
    expect((await stat(scene.at('app.cat'))).mode & 0o777).toBe(0o666 & ~process.umask());
    expect((await readdir(scene.path)).sort()).toEqual(['app.cat', 'app.exe', 'more', 'notes.txt']);
    const printed = openssl(['pkcs7', '-inform', 'DER', '-print', '-noout', '-in', 'app.cat'], { 'app.cat': bytes });
    for (const part of ['md_algs', 'cert', 'crl', 'signer_info']) {
      expect(printed.toString()).toMatch(new RegExp(`\\b${part}:\\s+<(EMPTY|ABSENT)>`));
    }
    const verified = await runCli(['verify', 'app.cat'], { cwd: scene.path });
    expect([verified.code, verified.stdout]).toEqual([8, expect.stringMatching(/^unsigned +app\.cat/)]);
    const foreign = await run('osslsigncode', ['verify', '-in', 'app.cat'], { cwd: scene.path }).catch(String);
    expect(foreign).toContain('No signature found');
    const inspected = await runCli(['inspect', '--json', 'app.cat'], { cwd: scene.path });
    expect(JSON.parse(inspected.stdout)).toMatchObject({ format: 'cat', signatures: [] });
  });

  it('quotes the path in the command that signs it', async () => {
    await using scene = await sceneOf();
    const { stdout } = await scene.catalog(['notes.txt', '-o', 'my files.cat']);
    expect(stdout).toBe('created my files.cat  (1 file); sign it with: codesign-remote sign "my files.cat"\n');
  });

  it('prints one JSON document, with --recursive and --exclude for its files', async () => {
    await using scene = await sceneOf();
    const made = await scene.catalog(['--recursive', '--exclude', '*.txt', '--json', '-o', 'app.cat', '.']);
    expect([made.code, made.stderr]).toEqual([0, expect.stringMatching(/^created app\.cat {2}\(2 files\)/)]);
    const { size } = await stat(scene.at('app.cat'));
    expect(JSON.parse(made.stdout)).toEqual({
      files: [
        {
          path: 'app.cat',
          output: 'app.cat',
          format: 'cat',
          status: 'created',
          members: 2,
          bytes: size,
          sha256: expect.any(String),
        },
      ],
    });
    expect(await scene.namesIn()).toEqual(new Set(['app.exe', 'third.bin']));
  });

  it('writes nothing in a dry run', async () => {
    await using scene = await sceneOf();
    const before = await snapshot(scene.path);
    const planned = await scene.catalog(['app.exe', 'notes.txt', '--dry-run', '-o', 'new/app.cat']);
    expect(planned).toMatchObject({ code: 0, stdout: 'would create new/app.cat  (2 files)\n', stderr: '' });
    const asJson = await scene.catalog(['app.exe', '--dry-run', '--json', '-o', 'app.cat']);
    expect(parseJson(asJson).files).toMatchObject([{ path: 'app.cat', status: 'planned', members: 1 }]);
    expect(await snapshot(scene.path)).toEqual(before);
    expect((await readdir(scene.path)).sort()).toEqual(['app.exe', 'more', 'notes.txt']);
  });

  it('replaces an existing file only with --replace, and never lists it', async () => {
    await using scene = await sceneOf();
    await writeFile(scene.at('app.cat'), 'an older catalog');
    await symlink('missing', scene.at('link.cat'));
    const before = await snapshot(scene.path);
    for (const more of [[], ['--dry-run'], ['--json']]) {
      const refused = await scene.catalog(['app.cat', 'notes.txt', '-o', 'app.cat', ...more]);
      expect(refused.code).toBe(6);
      expect(refused.stderr).toContain('app.cat already exists [output-exists]');
    }
    expect((await scene.catalog(['notes.txt', '-o', 'link.cat'])).stderr).toContain('[output-exists]');
    expect(await snapshot(scene.path)).toEqual(before);
    const replaced = await scene.catalog(['app.cat', 'notes.txt', '-o', 'app.cat', '--replace']);
    expect([replaced.code, replaced.stdout]).toEqual([0, expect.stringContaining('created app.cat  (1 file)')]);
    expect(await scene.namesIn()).toEqual(new Set(['notes.txt']));
    expect((await readdir(scene.path)).sort()).toEqual(['app.cat', 'app.exe', 'link.cat', 'more', 'notes.txt']);
  });

  it('rejects a run without an output, without files, and with options of the service', async () => {
    await using scene = await sceneOf();
    const refusals = [
      [['notes.txt'], 2, 'catalog-output-missing'],
      [['-o', 'app.cat'], 2, 'no-files'],
      [['app.cat', '-o', 'app.cat', '--replace'], 2, 'no-files'],
      [['notes.txt', '-o', 'app.cat', '--timestamp-url', 'http://localhost'], 2, 'invalid-usage'],
      [['notes.txt', '-o', 'more'], 6, 'output-exists'],
      [['notes.txt', '-o', 'more', '--replace'], 2, 'output-is-folder'],
    ] as const;
    await writeFile(scene.at('app.cat'), 'an older catalog');
    const before = await snapshot(scene.path);
    for (const [args, code, error] of refusals) {
      const refused = await scene.catalog(args);
      expect([args, refused.code, refused.stderr]).toEqual([args, code, expect.stringContaining(`[${error}]`)]);
    }
    expect(await snapshot(scene.path)).toEqual(before);
  });

  it('writes nothing if one of the files cannot be listed', async () => {
    await using scene = await sceneOf();
    const program = await readFile(fixture('pe/hello.exe'));
    await writeFile(scene.at('cut.exe'), program.subarray(0, 300));
    for (const name of ['cut.exe', 'missing.txt']) {
      const failed = await scene.catalog(['notes.txt', name, '--json', '-o', 'app.cat']);
      expect(failed.code).toBe(6);
      expect(failed.stderr).toMatch(new RegExp(`failed +app.cat: ${name} cannot be listed in the catalog: `));
      expect(parseJson(failed).error?.code).toBe('catalog-member-unusable');
    }
    expect(await readdir(scene.path)).not.toContain('app.cat');
  });
});

it.each([
  ['changes', (path: string) => appendFileSync(path, 'more')],
  ['is removed', (path: string) => rmSync(path)],
  ['is replaced by an equal file', (path: string) => renameSync(`${path}.copy`, path)],
])('is not created if a file that was already read %s meanwhile', async (_, change) => {
  await using scene = await sceneOf();
  const [first, last] = [scene.at('notes.txt'), scene.at('more/third.bin')];
  await copyFile(first, `${first}.copy`);
  // Only large files report that they are being read.
  await truncate(last, 20_000_000);
  let isChanged = false;
  const onRead = () => {
    if (!isChanged) change(first);
    isChanged = true;
  };
  const members = readMembers([first, last], { ...composeReading(), onRead });
  await expect(members).rejects.toMatchObject({ code: 'catalog-member-changed' });
  expect(isChanged).toBe(true);
});

describe('a created catalog', () => {
  let server: SharedServer;
  beforeAll(async () => {
    server = await useServer();
  });
  afterAll(() => server.stop());

  it('is signed by sign with its list unchanged, and then counts for its files', async () => {
    await using scene = await sceneOf();
    const roots = join(server.data, 'service', 'certificates', 'ca.pem');
    const options = { cwd: scene.path, env: server.env };
    expect((await scene.catalog(['app.exe', 'notes.txt', '-o', 'app.cat'])).code).toBe(0);
    const unsigned = readCatalog(await readFile(scene.at('app.cat')));
    expect((await runCli(['sign', '--no-timestamp', 'app.cat'], options)).code).toBe(0);
    const signed = readCatalog(await readFile(scene.at('app.cat')));
    expect(signed.cms).toBeDefined();
    expect(Buffer.compare(signed.list.bytes, unsigned.list.bytes)).toBe(0);
    const verify = ['verify', '--roots', roots, '--catalog', 'app.cat'];
    expect((await runCli([...verify, 'app.exe', 'notes.txt'], options)).code).toBe(0);
    await writeFile(scene.at('notes.txt'), 'other notes');
    expect((await runCli([...verify, 'notes.txt'], options)).code).toBe(8);
    const byCatalog = ['verify', '-catalog', 'app.cat', '-CAfile', roots, '-in', 'app.exe'];
    expect((await run('osslsigncode', byCatalog, { cwd: scene.path })).stdout).toContain('Succeeded');
  });
});
