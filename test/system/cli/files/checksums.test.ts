/** SHA-256 of what `sign` writes: in its document, in the history and in the file of --checksums, which sha256sum judges. */

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fixture, parseJson, runCli, snapshot, temporaryFolder } from '../../../support/programs/cli.ts';
import { useServer } from '../../../support/services/shared-server.ts';
import { forAll } from '../../../support/set-up.ts';

const server = await forAll(useServer());

const sign = (cwd: string, ...args: readonly string[]) =>
  runCli(['sign', '--no-timestamp', '--checksums', 'dist/SHA256SUMS', ...args], { cwd, env: server.env });

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const sumsIn = (folder: string): Promise<string> => readFile(join(folder, 'dist', 'SHA256SUMS'), 'utf8');
const sha256sum = (folder: string, ...args: readonly string[]): string =>
  execFileSync('sha256sum', args, { cwd: join(folder, 'dist'), encoding: 'utf8' });

/** A folder with `dist/`, and programs of these names in it. */
async function programs(folder: string, ...names: readonly string[]): Promise<void> {
  await mkdir(join(folder, 'dist', 'sub'), { recursive: true });
  for (const name of names) await copyFile(fixture('pe/hello.exe'), join(folder, 'dist', name));
}

it('writes what sha256sum accepts and would write, for names of every kind', async () => {
  await using folder = await temporaryFolder();
  const names = [
    'a.exe',
    'sub/b c.exe',
    'back\\slash.exe',
    'line\nend.exe',
    'return\r.exe',
    '*star.exe',
    'grün.exe',
    '-',
  ];
  await programs(folder.path, ...names, '../outside.exe');
  const run = await sign(folder.path, ...names.map((name) => `dist/${name}`), 'outside.exe');
  expect([run.code, run.stderr]).toEqual([0, '']);

  const outside = join(folder.path, 'outside.exe');
  expect(sha256sum(folder.path, '-c', '--strict', 'SHA256SUMS').match(/OK$/gm)).toHaveLength(names.length + 1);
  const paths = [...names.slice(0, -1), './-', outside];
  expect(await sumsIn(folder.path)).toBe(sha256sum(folder.path, '--', ...paths));
});

it('has the same digests in the documents of sign and history', async () => {
  await using folder = await temporaryFolder();
  await using state = await temporaryFolder();
  await programs(folder.path, 'a.exe');
  const env = { ...server.env, CODESIGN_STATE_DIR: state.path };
  const run = await runCli(['sign', '--json', 'dist/a.exe', '--no-timestamp'], { cwd: folder.path, env });
  const digest = sha256(await readFile(join(folder.path, 'dist', 'a.exe')));
  expect(parseJson(run).files).toMatchObject([{ status: 'signed', sha256: digest }]);
  const { stdout } = await runCli(['history', '--json'], { env });
  expect(JSON.parse(stdout).calls).toMatchObject([{ filesWritten: 1, sha256: [digest] }]);
  const removed = await runCli(['remove', '--json', 'dist/a.exe'], { cwd: folder.path, env });
  const unsigned = sha256(await readFile(join(folder.path, 'dist', 'a.exe')));
  expect(parseJson(removed).files).toMatchObject([{ status: 'removed', sha256: unsigned }]);
});

it('omits and names failed files, and lists those that were skipped or kept', async () => {
  await using folder = await temporaryFolder();
  await programs(folder.path, 'a.exe', 'b.exe');
  await copyFile(fixture('golden/sha256-rsa2048.exe'), join(folder.path, 'dist', 'vendor.exe'));
  await writeFile(join(folder.path, 'dist', 'notes.txt'), 'text');
  await sign(folder.path, 'dist/a.exe');

  // The checksums of the earlier run match the pattern, and are not a file to sign.
  const { code, stderr } = await sign(folder.path, '--skip-signed', 'dist/*');
  expect(code).toBe(6);
  expect(stderr).toMatch(
    /^warning +the checksum file dist\/SHA256SUMS does not list the files that failed: dist\/notes\.txt \[checksums-incomplete\]$/m,
  );
  expect(stderr).not.toMatch(/^failed +dist\/SHA256SUMS/m);
  expect((await sumsIn(folder.path)).replace(/^\w+ {2}/gm, '')).toBe('a.exe\nb.exe\nvendor.exe\n');
  sha256sum(folder.path, '-c', '--strict', 'SHA256SUMS');
});

it('prints the results although the checksums cannot be written at the end', async () => {
  await using folder = await temporaryFolder();
  await programs(folder.path, 'a.exe');
  const args = ['sign', '--no-timestamp', '--json', 'dist/a.exe', '-o', 'out/', '--checksums', 'out/a.exe/SHA256SUMS'];
  const run = await runCli(args, { cwd: folder.path, env: server.env });
  expect([run.code, run.stderr]).toEqual([6, expect.stringMatching(/^error /m)]);
  expect(parseJson(run).files).toMatchObject([{ status: 'signed' }]);
});

it.each([
  ['is a file to sign', ['dist/a.exe', 'dist/b.exe', '--checksums', 'dist/a.exe'], 'checksums-conflict'],
  ['is a file to sign, by a link', ['dist/a.exe', '--checksums', 'link.exe'], 'checksums-conflict'],
  ['is the path of a result', ['dist/a.exe', '-o', 'new.exe', '--checksums', './new.exe'], 'checksums-conflict'],
  ['holds other data', ['dist/b.exe', '--checksums', 'dist/a.exe'], 'checksums-not-replaceable'],
  [
    'holds other data and matches the pattern',
    ['dist/*.exe', '--checksums', 'dist/a.exe'],
    'checksums-not-replaceable',
  ],
  ['is a folder', ['dist/a.exe', '--checksums', 'dist/sub'], 'not-replaceable'],
  ['is below a file', ['dist/a.exe', '--checksums', 'dist/b.exe/SHA256SUMS'], 'output-blocked'],
  ['is standard output', ['dist/a.exe', '--checksums', '-'], 'invalid-setting'],
])('is rejected before any request if it %s', async (_problem, args, code) => {
  await using folder = await temporaryFolder();
  await programs(folder.path, 'a.exe', 'b.exe');
  execFileSync('ln', ['-s', 'dist/a.exe', join(folder.path, 'link.exe')]);
  const untouched = await snapshot(folder.path);
  const before = server.operations('sign').length;
  const run = await runCli(['sign', '--json', ...args], { cwd: folder.path, env: server.env });
  expect(parseJson(run).error?.code).toBe(code);
  expect([server.operations('sign').length, await snapshot(folder.path)]).toEqual([before, untouched]);
});

it('is not written by a dry run', async () => {
  await using folder = await temporaryFolder();
  await programs(folder.path, 'a.exe');
  const untouched = await snapshot(folder.path);
  expect((await sign(folder.path, '--dry-run', 'dist/a.exe')).code).toBe(0);
  expect(await snapshot(folder.path)).toEqual(untouched);
});
