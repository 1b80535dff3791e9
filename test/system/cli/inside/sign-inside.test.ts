/** `codesign-remote sign --inside` as a user runs it, checked by unzip, zipinfo, osslsigncode, jarsigner and our `verify`. */

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { makeAsar } from '../../../support/containers/make-asar.ts';
import { cabOf } from '../../../support/containers/make-cab.ts';
import { msiOf } from '../../../support/containers/make-msi.ts';
import { makeTar } from '../../../support/containers/make-tar.ts';
import { zipOf } from '../../../support/containers/make-zip.ts';
import { type CliRun, fixture, parseJson, runCli, snapshot } from '../../../support/programs/cli.ts';
import { jarsignerVerify, mainJava, makeTruststore } from '../../../support/programs/java.ts';
import { useServer } from '../../../support/services/shared-server.ts';
import { folderForEach, forAll } from '../../../support/set-up.ts';
import { makePackage } from '../../../unit/formats/appx/samples.ts';
import { makeCompoundFile } from '../../../unit/formats/msi/samples.ts';
import { makePackage as makeNupkg } from '../../../unit/formats/nuget/samples.ts';
import { osslsigncodeVerify } from '../../interop/verifiers.ts';

const server = await forAll(useServer({ tsa: true }));
const scratch = folderForEach();
const requests = () => server.operations('sign').length;

const files = [
  'pe/hello.exe',
  'pe/library.dll',
  'jar/plain.jar',
  'golden/sha256-rsa2048.exe',
  'golden/sha256-rsa2048.jar',
];
const [hello, library, jar, signed, signedJar] = (await Promise.all(files.map((name) => readFile(fixture(name))))) as [
  Buffer,
  Buffer,
  Buffer,
  Buffer,
  Buffer,
];
const brokenProgram = Buffer.from(signed);
brokenProgram[0x210] = (brokenProgram[0x210] ?? 0) ^ 1;
const NOTES = Buffer.from('notes\n'.repeat(99));

const sign = (...args: readonly string[]): Promise<CliRun> =>
  runCli(['sign', '--inside', ...args], { env: server.env, cwd: scratch.path });
async function write(name: string, bytes: Uint8Array | string): Promise<string> {
  await mkdir(dirname(scratch.at(name)), { recursive: true });
  await writeFile(scratch.at(name), bytes);
  return scratch.at(name);
}
const unzip = (path: string, name: string): Buffer => execFileSync('unzip', ['-p', path, name], { maxBuffer: 1 << 26 });
const verifyInside = (...args: readonly string[]) =>
  runCli(['verify', '--inside', '--roots', server.roots, ...args], { cwd: scratch.path });

async function requireSigned(program: Uint8Array): Promise<void> {
  expect(await osslsigncodeVerify(server.roots, await write('extracted.exe', program))).toMatchObject({
    accepted: true,
  });
}

interface Inside {
  readonly location: string;
  readonly status: string;
  readonly record?: string;
  readonly reused?: boolean;
}
const insideOf = (run: CliRun, index = 0) =>
  (parseJson(run).files[index] as { readonly inside?: readonly Inside[] }).inside ?? [];

describe('a ZIP archive', () => {
  it.each([false, true])('gets signed programs, and keeps all else (deflated: %s)', async (isDeflated) => {
    const parts = { 'a.txt': NOTES, 'bin/app.exe': hello, 'b.txt': NOTES, 'setup.msi': makeCompoundFile() };
    const original = zipOf(parts, isDeflated);
    const path = await write('app.zip', original);
    const before = requests();
    const run = await sign('app.zip', '--json');
    expect([run.code, requests() - before]).toEqual([0, 2]);
    expect(parseJson(run).files[0]).toMatchObject({ format: 'zip', status: 'signed', record: null, reported: true });
    expect(insideOf(run)).toMatchObject([
      { location: 'app.zip!/bin/app.exe', format: 'pe', status: 'signed', record: expect.any(String), reused: false },
      { location: 'app.zip!/setup.msi', format: 'msi', status: 'signed', timestamp: expect.any(String) },
    ]);
    execFileSync('unzip', ['-tq', path]);
    const result = await readFile(path);
    for (const [name, next] of [
      ['a.txt', 'bin/app.exe'],
      ['b.txt', 'setup.msi'],
    ] as const) {
      expect(result.includes(original.subarray(original.indexOf(name) - 30, original.indexOf(next) - 30))).toBe(true);
    }
    await requireSigned(unzip(path, 'bin/app.exe'));
    await requireSigned(unzip(path, 'setup.msi'));
    expect((await verifyInside('app.zip')).code).toBe(0);
  });

  it('keeps names, order, times, attributes and the method of changed entries, with data descriptors', async () => {
    await write('in/run.exe', hello);
    await write('in/ä.dll', library);
    execFileSync('chmod', ['755', scratch.at('in/run.exe')]);
    await utimes(scratch.at('in/run.exe'), 1e9, 1e9);
    execFileSync('zip', ['-q', '-fd', '-z', '../app.zip', 'ä.dll'], { cwd: scratch.at('in'), input: 'a comment' });
    execFileSync('zip', ['-q', '-0', '../app.zip', 'run.exe'], { cwd: scratch.at('in') });
    const listed = () =>
      execFileSync('zipinfo', ['-l', '-h', scratch.at('app.zip')], { encoding: 'utf8' })
        .split('\n')
        .slice(2, 4)
        .map((line) => line.split(/\s+/).filter((_, index) => index !== 3 && index !== 5));
    const before = listed();
    expect((await sign('app.zip')).code).toBe(0);
    expect(listed().map(([mode, ...rest]) => [mode, ...rest.map((word) => word.replace(/^([bt]).$/, '$1'))])).toEqual(
      before.map(([mode, ...rest]) => [mode, ...rest.map((word) => word.replace(/^([bt]).$/, '$1'))]),
    );
    execFileSync('python3', [
      '-c',
      'import sys,zipfile; assert zipfile.ZipFile(sys.argv[1]).testzip() is None',
      scratch.at('app.zip'),
    ]);
    expect(execFileSync('unzip', ['-z', scratch.at('app.zip')], { encoding: 'utf8' })).toContain('a comment');
    await requireSigned(unzip(scratch.at('app.zip'), 'run.exe'));
  });

  it('with programs in archives in it is signed from the inside out, and equal contents are requested once', async () => {
    const inner = zipOf({ 'x/a.dll': library });
    await write(
      'dist/one.zip',
      zipOf(
        {
          'inner.zip': inner,
          'lib.jar': zipOf({
            'META-INF/MANIFEST.MF': Buffer.from('Manifest-Version: 1.0\r\n\r\n'),
            'n/a.dll': library,
          }),
        },
        true,
      ),
    );
    await write('dist/two.zip', zipOf({ 'a.dll': library, 'b.dll': library }));
    const before = requests();
    const run = await sign('--json', 'dist');
    expect([run.code, requests() - before]).toEqual([0, 1]);
    const found = parseJson(run).files.flatMap((_, index) => insideOf(run, index));
    expect(found.map(({ location }) => location)).toEqual([
      'dist/one.zip!/inner.zip!/x/a.dll',
      'dist/one.zip!/lib.jar!/n/a.dll',
      'dist/two.zip!/a.dll',
      'dist/two.zip!/b.dll',
    ]);
    expect(new Set(found.map(({ record }) => record)).size).toBe(1);
    await requireSigned(unzip(await write('inner.zip', unzip(scratch.at('dist/one.zip'), 'inner.zip')), 'x/a.dll'));
    expect((await verifyInside('dist')).stdout).toContain('4 good, ');
    const again = await sign('--json', 'dist');
    expect(
      parseJson(again).files.map(({ status, reason }: { status: string; reason?: string }) => [status, reason]),
    ).toEqual([
      ['skipped', 'already-signed'],
      ['skipped', 'already-signed'],
    ]);
    expect(requests() - before).toBe(1);
  });

  it('is the same in every run', async () => {
    await write('app.zip', zipOf({ 'a.exe': hello, 'b.zip': zipOf({ 'c.dll': library }) }, true));
    for (const name of ['one.zip', 'two.zip'])
      expect((await sign('--no-timestamp', 'app.zip', '-o', name)).code).toBe(0);
    expect(await readFile(scratch.at('one.zip'))).toEqual(await readFile(scratch.at('two.zip')));
  });

  it('keeps intact signatures of anyone, replaces them with --replace, and leaves other kinds of files', async () => {
    const elf = Buffer.concat([Buffer.from('\x7fELF\x02\x01\x01'), Buffer.alloc(100)]);
    const parts = {
      'new.exe': hello,
      'theirs.exe': signed,
      elf,
      'x.js': NOTES,
      'lib.jar': jar,
      'theirs.jar': signedJar,
    };
    const original = zipOf(parts);
    await write('app.zip', original);
    const run = await sign('app.zip', '--json');
    expect(insideOf(run)).toMatchObject([
      { location: 'app.zip!/new.exe', status: 'signed' },
      { location: 'app.zip!/theirs.exe', status: 'kept' },
      { location: 'app.zip!/theirs.jar', status: 'kept' },
    ]);
    expect(unzip(scratch.at('app.zip'), 'theirs.exe')).toEqual(signed);
    await write('app.zip', original);
    expect(insideOf(await sign('app.zip', '--json', '--replace'))).toMatchObject([
      { location: 'app.zip!/new.exe', status: 'signed' },
      { location: 'app.zip!/theirs.exe', status: 'signed' },
      { location: 'app.zip!/theirs.jar', status: 'kept' },
    ]);
  });

  it('without programs is skipped', async () => {
    const document = makeCompoundFile({ clsid: '00'.repeat(16), children: [] });
    const files = { 'a.txt': NOTES, 'letter.doc': document, 'boot.com': Buffer.from('MZ a program for DOS') };
    await write('app.zip', zipOf(files));
    const run = await sign('app.zip', '--json');
    expect([run.code, parseJson(run).files]).toMatchObject([0, [{ status: 'skipped', reason: 'nothing-to-sign' }]]);
  });

  it('stays an unknown format without the option', async () => {
    await write('app.zip', zipOf({ 'a.exe': hello }));
    const run = await runCli(['sign', 'app.zip', '--json'], { env: server.env, cwd: scratch.path });
    expect([run.code, parseJson(run).files[0]]).toMatchObject([6, { error: { code: 'unsupported-format' } }]);
  });

  it('is shown in a dry run, with the number of requests', async () => {
    await write('app.zip', zipOf({ 'a.exe': hello, 'b.exe': hello, 'in.zip': zipOf({ 'c.dll': library }) }));
    const [untouched, before] = [await snapshot(scratch.path), requests()];
    const { stdout, stderr, code } = await sign('--dry-run', 'app.zip');
    expect(code).toBe(0);
    expect(stdout + stderr).toContain('app.zip!/in.zip!/c.dll: the SHA256 digest ');
    expect(stdout + stderr).toContain('2 signatures would be requested');
    expect([await snapshot(scratch.path), requests()]).toEqual([untouched, before]);
  });
});

describe('a JAR', () => {
  it('is signed after the programs in it, and accepted by jarsigner', async () => {
    const manifest = Buffer.from('Manifest-Version: 1.0\r\n\r\n');
    const path = await write(
      'app.jar',
      zipOf({ 'META-INF/MANIFEST.MF': manifest, 'native/a.dll': library, 'lib/b.zip': zipOf({ 'a.exe': hello }) }),
    );
    const before = requests();
    const run = await sign('app.jar', '--json');
    expect([run.code, requests() - before]).toEqual([0, 3]);
    expect(insideOf(run).map(({ location }) => location)).toEqual([
      'app.jar!/native/a.dll',
      'app.jar!/lib/b.zip!/a.exe',
    ]);
    const truststore = makeTruststore(await readFile(server.roots, 'utf8'), scratch.path);
    expect(await jarsignerVerify(mainJava(), truststore, path)).toMatchObject({ accepted: true });
    await requireSigned(unzip(path, 'native/a.dll'));
    expect((await verifyInside('app.jar')).stdout).toContain('3 good, ');
  });

  it('with a signature that the change would break is rejected, unless --replace', async () => {
    const old = zipOf({ 'META-INF/MANIFEST.MF': Buffer.from('Manifest-Version: 1.0\r\n\r\n'), 'a.dll': library });
    const path = await write('old.jar', old);
    expect((await runCli(['sign', 'old.jar'], { env: server.env, cwd: scratch.path })).code).toBe(0);
    await write('outer.zip', zipOf({ 'lib/old.jar': await readFile(path) }));
    const before = requests();
    for (const name of ['old.jar', 'outer.zip']) {
      const run = await sign(name, '--json');
      expect([run.code, parseJson(run).files[0]?.error?.code]).toEqual([6, 'container-signed']);
    }
    expect(requests()).toBe(before);
    expect((await sign('--replace', 'old.jar', 'outer.zip')).code).toBe(0);
    const truststore = makeTruststore(await readFile(server.roots, 'utf8'), scratch.path);
    const nested = await write('nested.jar', unzip(scratch.at('outer.zip'), 'lib/old.jar'));
    for (const one of [path, nested])
      expect(await jarsignerVerify(mainJava(), truststore, one)).toMatchObject({ accepted: true });
  });
});

it('a signed NuGet package is changed only with --replace', async () => {
  const path = await write('p.nupkg', makeNupkg({ name: 'tools/a.exe', contents: hello }));
  expect((await runCli(['sign', 'p.nupkg'], { env: server.env, cwd: scratch.path })).code).toBe(0);
  await write('outer.zip', zipOf({ 'p.nupkg': await readFile(path) }));
  const before = requests();
  for (const name of ['p.nupkg', 'outer.zip']) {
    const run = await sign(name, '--json');
    expect([run.code, parseJson(run).files[0]?.error?.code]).toEqual([6, 'container-signed']);
  }
  expect(requests()).toBe(before);
  expect((await sign('--replace', 'p.nupkg', 'outer.zip')).code).toBe(0);
  expect((await verifyInside('p.nupkg', 'outer.zip')).stdout).toContain('4 good, ');
});

it('a JAR that is stored in an archive stays stored', async () => {
  const manifest = Buffer.from('Manifest-Version: 1.0\r\n\r\n');
  const nested = zipOf({ 'META-INF/MANIFEST.MF': manifest, 'native/a.dll': library }, true);
  const path = await write('boot.jar', zipOf({ 'META-INF/MANIFEST.MF': manifest, 'BOOT-INF/lib/n.jar': nested }));
  expect((await sign('boot.jar')).code).toBe(0);
  expect(execFileSync('zipinfo', [path, 'BOOT-INF/lib/n.jar'], { encoding: 'utf8' })).toMatch(/ stor /);
  await requireSigned(unzip(await write('n.jar', unzip(path, 'BOOT-INF/lib/n.jar')), 'native/a.dll'));
});

describe('before the first request, a run is rejected', () => {
  const wheel = zipOf({ 'p/a.pyd': library, 'p-1.0.dist-info/RECORD': NOTES });
  const damaged = zipOf({ 'a.exe': hello });
  damaged[100] = (damaged[100] ?? 0) ^ 1;
  it.each([
    ['a.msix', makePackage({ publisher: 'CN=x', files: [{ name: 'a.exe', contents: hello }] }), 'container-read-only'],
    ['a.msi', msiOf(['a.exe'], cabOf({ F0: hello })), 'container-read-only'],
    ['a.cab', cabOf({ 'a.exe': hello }), 'container-read-only'],
    ['sfx.exe', Buffer.concat([hello, zipOf({ 'a.dll': library })]), 'container-read-only'],
    ['a.asar', makeAsar({ 'a.node': library }), 'container-read-only'],
    ['a.tar', makeTar([{ name: 'a.exe', content: hello }]), 'container-read-only'],
    ['a.tgz', gzipSync(makeTar([{ name: 'a.exe', content: hello }])), 'container-read-only'],
    ['p-1.0-py3-none-any.whl', wheel, 'container-read-only'],
    ['m.jmod', Buffer.concat([Buffer.from('JM\x01\x00'), zipOf({ 'bin/a.dll': library })]), 'container-read-only'],
    ['x.crx', Buffer.concat([Buffer.from('Cr24'), zipOf({ 'bin/a.dll': library })]), 'container-read-only'],
    [
      'x.vsix',
      zipOf({ 'a.dll': library, 'package/services/digital-signature/origin.psdor': NOTES }),
      'container-read-only',
    ],
    ['broken.exe', brokenProgram, 'inside-broken'],
    ['damaged.zip', damaged, 'inside-unfit'],
    ['cut.exe', hello.subarray(0, 300), 'inside-unfit'],
  ])('for %s in an archive, next to a file that could be signed', async (name, bytes, code) => {
    await write('app.zip', zipOf({ 'good.exe': hello, [name]: bytes }));
    await write('other.exe', hello);
    const [untouched, before] = [await snapshot(scratch.path), requests()];
    for (const option of ['--json', '--dry-run']) {
      const run = await sign('--json', option, 'app.zip', 'other.exe');
      expect([run.code, parseJson(run).files.map(({ error }) => error?.code)]).toEqual([6, [code, 'not-attempted']]);
      expect(parseJson(run).files[0]?.error).toMatchObject({
        message: expect.stringContaining(`app.zip!/${name}`),
        hint: expect.any(String),
      });
    }
    expect([await snapshot(scratch.path), requests()]).toEqual([untouched, before]);
    expect((await sign('--exclude', name, 'app.zip')).code).toBe(0);
  });
});

it('names the files in the same folder that contain old digests', async () => {
  const archive = zipOf({ 'a.exe': hello });
  await write('d/app.zip', archive);
  await write('d/app.zip.blockmap', gzipSync('{}'));
  const digest = (name: string) => createHash(name).update(archive);
  await write('d/latest.yml', `sha512: ${digest('sha512').digest('base64')}\n`);
  await write('d/RELEASES', `${digest('sha1').digest('hex').toUpperCase()} app.zip 1\n`);
  await write('d/SHASUMS256.txt', `${digest('sha256').digest('hex')}  app.zip\n`);
  await write('d/other.txt', `${createHash('sha256').update('x').digest('hex')}  other.zip\n`);
  const [{ warnings = [] } = {}] = parseJson(await sign('--json', 'd')).files as readonly { warnings?: string[] }[];
  expect(warnings.map((text) => text.split(' ')[0])).toEqual([
    'RELEASES',
    'SHASUMS256.txt',
    'app.zip.blockmap',
    'latest.yml',
  ]);
});

describe('--policy', () => {
  it('says which files are signed, inside and outside', async () => {
    const rules = [
      { files: '*.dll', require: 'nothing', reason: 'of a supplier' },
      { files: ['lib.jar', '**!/x.js', '**!/elf'], sign: true },
      { files: 'dist/old.exe', sign: false },
      { files: 'old.exe', sign: false },
    ];
    await write('policy.json', JSON.stringify({ version: 1, rules }));
    const elf = Buffer.concat([Buffer.from('\x7fELF\x02\x01\x01'), Buffer.alloc(100)]);
    await write(
      'dist/app.zip',
      zipOf({ 'a.exe': hello, 'b.dll': library, 'lib.jar': jar, 'x.js': NOTES, elf, 'old.exe': hello }),
    );
    await write('dist/old.exe', library);
    await write('dist/c.dll', library);
    const run = await sign('--policy', 'policy.json', '--json', 'dist');
    expect([run.code, parseJson(run).files]).toMatchObject([
      0,
      [
        { inside: [{ location: 'dist/app.zip!/a.exe' }, { location: 'dist/app.zip!/lib.jar', format: 'jar' }] },
        { path: 'dist/c.dll', reason: 'exempt' },
        { path: 'dist/old.exe', reason: 'exempt' },
      ],
    ]);
    expect(insideOf(run)).toHaveLength(2);
  });

  it('that is invalid ends the run', async () => {
    await write('policy.json', '{}');
    await write('app.zip', zipOf({ 'a.exe': hello }));
    expect((await sign('--policy', 'policy.json', 'app.zip')).code).toBe(2);
  });
});

describe('--exclude', () => {
  it('matches names inside, and a pattern with !/ matches locations', async () => {
    await write('d/app.zip', zipOf({ 'a.exe': hello, 'v/b.dll': library, 'v.zip': zipOf({ 'c.dll': library }) }));
    const planned = async (...patterns: readonly string[]) =>
      insideOf(await sign('--json', '--dry-run', ...patterns.flatMap((one) => ['--exclude', one]), 'd')).map(
        ({ location }) => location,
      );
    const all = ['a.exe', 'v/b.dll', 'v.zip!/c.dll'].map((name) => `d/app.zip!/${name}`);
    expect(await planned()).toEqual(all);
    expect(await planned('*.dll')).toEqual([all[0]]);
    expect(await planned('v')).toEqual([all[0], all[2]]);
    expect(await planned('d/app.zip!/v', '**!/v.zip!/*.exe')).toEqual([all[0], all[2]]);
    expect(await planned('d/app.zip!/v.zip!/c.dll', 'v/b.dll')).toEqual(all.slice(0, 2));
  });
});

describe('a run that ended before the archive was written', () => {
  it('is finished with the same signatures, by the same command or by resume', async () => {
    const original = zipOf({ 'a.exe': hello, 'b.dll': library }, true);
    const killed = await write('app.zip', original);
    const env = { ...server.env, CODESIGN_STATE_DIR: scratch.at('state') };
    const run = (...args: readonly string[]) => runCli(args, { env, cwd: scratch.path });
    // The second of two signatures is requested with an authority that does not exist, so its file is never written.
    const before = requests();
    const failing = await run('sign', '--inside', 'app.zip', '--json', '--timestamp-url', 'http://127.0.0.1:1');
    expect([failing.code, requests() - before]).toEqual([7, 1]);
    expect(await readFile(killed)).toEqual(original);
    expect((await run('resume')).stdout + (await run('history')).stdout).toContain('app.zip!/a.exe');
    expect((await run('sign', '--inside', 'app.zip')).code).toBe(0);
    expect(requests() - before).toBe(2);
    expect((await run('resume')).stdout).toContain('nothing');
    await requireSigned(unzip(killed, 'a.exe'));
    await rm(killed);
  });
});
