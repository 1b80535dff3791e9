/** `codesign-remote verify --inside` and `--policy` as a user runs them, with archives of other programs. */

import { execFileSync } from 'node:child_process';
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { cabOf, cabSet } from '../../../support/containers/make-cab.ts';
import { zipOf } from '../../../support/containers/make-zip.ts';
import { REPOSITORY, runCli } from '../../../support/programs/cli.ts';
import { folderForAll, folderForEach } from '../../../support/set-up.ts';

const GOLDEN = join(REPOSITORY, 'fixtures', 'golden');
const ROOT = join(GOLDEN, 'root.pem');
const SIGNED = join(GOLDEN, 'sha256-rsa2048.exe');
const UNSIGNED = join(REPOSITORY, 'fixtures', 'pe', 'hello.exe');
const folder = folderForAll();
const dist = join(folder, 'dist');

/** dist/app.tar.gz with a program and a JAR with two programs, one of which is not signed; dist/notes.txt. */
beforeAll(async () => {
  const files = join(folder, 'files');
  await mkdir(join(files, 'native'), { recursive: true });
  await mkdir(dist);
  await copyFile(SIGNED, join(files, 'app.exe'));
  await copyFile(SIGNED, join(files, 'native', 'good.dll'));
  await copyFile(UNSIGNED, join(files, 'native', 'bad.dll'));
  execFileSync('jar', ['--create', '--file', 'lib.jar', 'native'], { cwd: files });
  execFileSync('tar', ['-czf', join(dist, 'app.tar.gz'), 'app.exe', 'lib.jar'], { cwd: files });
  await writeFile(join(dist, 'notes.txt'), 'notes');
});

const BAD = `${join(dist, 'app.tar.gz')}!/lib.jar!/native/bad.dll`;
const inside = (...args: readonly string[]) => runCli(['verify', '--inside', '--roots', ROOT, ...args, dist]);
const withPolicy = async (policy: object, ...args: readonly string[]) => {
  const path = join(folder, `${Math.random()}.json`);
  await writeFile(path, JSON.stringify({ version: 1, roots: [ROOT], ...policy }));
  return await runCli(['verify', '--policy', path, ...args, dist]);
};

it('finds an unsigned program in an archive in an archive', async () => {
  const { code, stdout } = await inside();
  expect(stdout).toBe(`unsigned      ${BAD}: not signed\n2 good, 1 failed, 4 need no signature\n`);
  expect(code).toBe(8);
});

it('agrees with the verdicts on the unpacked files', async () => {
  const unpacked = join(folder, 'unpacked');
  await mkdir(unpacked);
  execFileSync('tar', ['-xzf', join(dist, 'app.tar.gz'), '-C', unpacked]);
  execFileSync('jar', ['--extract', '--file', 'lib.jar'], { cwd: unpacked });
  const separate = await runCli(['verify', '--json', '--roots', ROOT, '--recursive', unpacked]);
  const verdicts = (files: readonly { path?: string; location?: string; verdict: string }[]) =>
    files.map(({ path, location, verdict }) => [(location ?? path)?.split('/').at(-1), verdict]).sort();
  const { files } = JSON.parse((await inside('--json', '--verbose')).stdout);
  const programs = files
    .flatMap((file: { inside: [] }) => file.inside)
    .filter(({ kind }: { kind: string }) => kind === 'pe' || kind === 'jar');
  expect(verdicts(programs)).toEqual(verdicts(JSON.parse(separate.stdout).files));
});

it('prints a document with every location, and counts by result', async () => {
  const { code, stdout } = await inside('--json');
  const { files, summary } = JSON.parse(stdout);
  expect(code).toBe(8);
  expect(summary).toEqual({ inside: { 'not-required': 4, good: 2, failed: 1 } });
  const [{ path, result, inside: found }] = files;
  expect([path, result]).toEqual([join(dist, 'app.tar.gz'), 'not-required']);
  const name = join(dist, 'app.tar.gz');
  expect(found).toMatchObject([
    { location: `${name}!/app.exe`, kind: 'pe', verdict: 'trusted', result: 'good', covered: 'own', sameAs: null },
    { path: [name, 'lib.jar', 'native/bad.dll'], result: 'failed', cause: 'unsigned', rule: null },
    { location: `${name}!/lib.jar!/native/good.dll`, result: 'good' },
  ]);
});

it('fails for a file that cannot be read, next to one that is unsigned', async () => {
  const { code } = await runCli(['verify', '--inside', '--roots', ROOT, dist, join(folder, 'missing.exe')]);
  expect(code).toBe(9);
});

it('agrees with the verdicts on the files that cabextract unpacks', async () => {
  const [unpacked, packed] = [join(folder, 'unpacked-2'), join(folder, 'packed')];
  await mkdir(unpacked);
  await mkdir(packed);
  const [good, bad] = [await readFile(SIGNED), await readFile(UNSIGNED)];
  await writeFile(join(packed, 'a.cab'), cabOf({ 'good.exe': good, 'bad.exe': bad }, true));
  const installer = ['1.idt', '2.idt'].map((name) => join(folder, name));
  await writeFile(
    installer[0] ?? '',
    'File\tFileName\tComponent_\ns72\tl255\ts72\nFile\tFile\nF0\tgood.dll\tC\nF1\tbad.dll\tC\n',
  );
  await writeFile(installer[1] ?? '', 'DiskId\tCabinet\ni2\tS255\nMedia\tDiskId\n1\t#c\n');
  await writeFile(join(folder, 'c'), cabOf({ F0: good, F1: bad }, true));
  execFileSync('msibuild', [join(packed, 'a.msi'), '-i', ...installer, '-a', 'c', 'c'], { cwd: folder });
  execFileSync('cabextract', ['-q', '-d', unpacked, join(packed, 'a.cab')]);
  execFileSync('cabextract', ['-q', '-d', unpacked, join(folder, 'c')]);
  const separate = JSON.parse(
    (
      await runCli([
        'verify',
        '--json',
        '--roots',
        ROOT,
        ...(await readdir(unpacked)).map((name) => join(unpacked, name)),
      ])
    ).stdout,
  );
  const { files } = JSON.parse((await runCli(['verify', '--inside', '--json', '--roots', ROOT, packed])).stdout);
  const verdicts = (all: readonly { readonly verdict: string }[]) => all.map(({ verdict }) => verdict).sort();
  expect(verdicts(files.flatMap((file: { inside: [] }) => file.inside))).toEqual(verdicts(separate.files));
});

it('opens cabinets that continue in files next to them', async () => {
  const set = join(folder, 'set');
  await mkdir(set);
  const names = ['1.cab', '2.cab'] as const;
  const cabinets = cabSet('bad.exe', await readFile(UNSIGNED), names);
  for (const [index, name] of names.entries()) await writeFile(join(set, name), cabinets[index] ?? '');
  const { stdout } = await runCli(['verify', '--inside', '--roots', ROOT, set]);
  expect(stdout).toBe(
    `unsigned      ${join(set, '1.cab')}!/bad.exe: not signed\n0 good, 1 failed, 2 need no signature\n`,
  );
});

it('warns about a name that leaves the folder, and accepts the file', async () => {
  const path = join(folder, 'slip.tar');
  execFileSync('tar', ['--absolute-names', '-cf', path, '--transform', 's,.*,../app.exe,', SIGNED]);
  const { code, stdout } = await runCli(['verify', '--inside', '--roots', ROOT, path]);
  const warning = `warning       ${path}: names are absolute or contain "..": "../app.exe" [name-leaves-folder]`;
  expect(stdout).toBe(`${warning}\n1 good, 1 need no signature\n`);
  expect(code).toBe(0);
  const { stdout: json } = await runCli(['verify', '--inside', '--roots', ROOT, '--json', path]);
  expect(JSON.parse(json).files[0].findings).toMatchObject([{ code: 'name-leaves-folder', weight: 'warning' }]);
});

it('limits the unpacked size', async () => {
  const path = join(folder, 'large.zip');
  const archive = zipOf({ a: Buffer.from('x') }, true);
  for (const offset of [22, archive.indexOf('PK\x01\x02') + 24]) archive.writeUInt32LE(2 ** 31, offset);
  await writeFile(path, archive);
  const { code, stdout } = await runCli(['verify', '--max-unpacked', '1', '--roots', ROOT, path]);
  expect(stdout).toContain('too large: more than 1073741824 bytes, which is the limit [contents-too-large]\n');
  expect(code).toBe(8);
});

it('leaves verify without the option as it was', async () => {
  expect((await runCli(['verify', '--roots', ROOT, join(dist, 'app.tar.gz')])).code).toBe(6);
});

describe('a policy', () => {
  it('accepts the files that its rules except, and says what each rule decided', async () => {
    const rules = [
      { files: 'native/bad.dll', require: 'intact', reason: 'x' },
      { files: '**/native/bad.*', require: 'intact', reason: 'built by a supplier' },
    ];
    const { code, stdout, stderr } = await withPolicy({ rules });
    expect(code).toBe(0);
    expect(stdout).toContain('rule 2        **/native/bad.*: 0 good, 1 exempt\n');
    expect(stderr).toContain('matches no file');
  });

  it('names the rule that a file does not meet', async () => {
    const rules = [{ files: ['*.dll', '*.exe'], signers: [{ commonName: 'Somebody Else' }] }];
    const { code, stdout } = await withPolicy({ rules });
    expect(code).toBe(8);
    expect(stdout).toContain(
      'good.dll (rule 1: *.dll, …): it is signed by "Golden RSA 2048", which the policy does not accept [signer-differs]\n',
    );
    expect(stdout).toContain(`unsigned      ${BAD} (rule 1: *.dll, …): not signed\n`);
  });

  it('explains the decision about one file', async () => {
    const rules = [{ files: '**/bad.dll', require: 'nothing', reason: 'old' }];
    const { stdout } = await withPolicy({ rules }, '--why', BAD);
    expect(stdout).toMatch(/^\S+bad\.dll: pe, exempt\nrule 1: \{\n[\s\S]*"reason": "old"/);
    expect(await withPolicy({ rules }, '--why', 'x')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('[location-not-found]'),
    });
  });

  it('requires a minimum of good files', async () => {
    const rules = [{ files: '*', require: 'nothing', reason: 'all' }];
    const { code, stdout } = await withPolicy({ rules });
    expect(code).toBe(8);
    expect(stdout).toContain('failed        **: 0 good, at least 1 required [minimum]\n');
  });

  it.each([['--signer', 'x'], ['--integrity-only'], ['--require-timestamp']])(
    'rejects %s, which the policy states',
    async (...args) => {
      expect((await withPolicy({}, ...args)).code).toBe(2);
    },
  );

  it('that is invalid is exit code 2', async () => {
    expect(await withPolicy({ rule: [] })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('[policy-invalid]'),
    });
  });
});

describe('--print-policy', () => {
  const scene = folderForEach();

  it('writes a policy that the same files meet, once the exceptions have reasons', async () => {
    const path = scene.at('policy.json');
    const print = () => runCli(['verify', '--print-policy', '--roots', ROOT, '--output', path, dist]);
    expect((await print()).code).toBe(0);
    const roots = await readFile(scene.at('codesign-roots.pem'), 'utf8');
    expect(roots).toContain('-----BEGIN CERTIFICATE-----');
    expect(roots).toContain('used by app.tar.gz!/app.exe');
    const verify = () => runCli(['verify', '--policy', path, dist]);
    expect(await verify()).toMatchObject({ code: 2, stderr: expect.stringContaining('[policy-not-finished]') });
    await writeFile(path, (await readFile(path, 'utf8')).replace('TODO', 'built by a supplier'));
    expect((await verify()).code).toBe(0);
    for (const file of ['policy.json', 'codesign-roots.pem']) {
      expect(await print()).toMatchObject({ code: 6, stderr: expect.stringContaining(`${file} already exists`) });
      await rm(scene.at(file));
    }
  });
});
