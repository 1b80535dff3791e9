/** `codesign-remote sign --inside` as a user runs it, with what other programs do not make. The rest: sessions/recorded/cases/inside.txt. */

import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { makeAsar } from '../../../support/containers/make-asar.ts';
import { cabOf } from '../../../support/containers/make-cab.ts';
import { msiOf } from '../../../support/containers/make-msi.ts';
import { makeTar } from '../../../support/containers/make-tar.ts';
import { zipOf } from '../../../support/containers/make-zip.ts';
import { flipped } from '../../../support/flipped.ts';
import { type CliRun, fixture, parseJson, runCli, snapshot } from '../../../support/programs/cli.ts';
import { useServer } from '../../../support/services/shared-server.ts';
import { folderForEach, forAll } from '../../../support/set-up.ts';
import { makePackage } from '../../../unit/formats/appx/samples.ts';
import { makeCompoundFile } from '../../../unit/formats/msi/samples.ts';
import { makePackage as makeNupkg } from '../../../unit/formats/nuget/samples.ts';
import { osslsigncodeVerify } from '../../interop/verifiers.ts';

const server = await forAll(useServer({ tsa: true }));
const scratch = folderForEach();
const requests = () => server.operations('sign').length;

const [hello, library, signed] = await Promise.all([
  readFile(fixture('pe/hello.exe')),
  readFile(fixture('pe/library.dll')),
  readFile(fixture('golden/sha256-rsa2048.exe')),
]);
const NOTES = Buffer.from('notes\n'.repeat(99));

const sign = (...args: readonly string[]): Promise<CliRun> =>
  runCli(['sign', '--inside', ...args], { env: server.env, cwd: scratch.path });
async function write(name: string, bytes: Uint8Array | string): Promise<string> {
  await mkdir(dirname(scratch.at(name)), { recursive: true });
  await writeFile(scratch.at(name), bytes);
  return scratch.at(name);
}

it.each([false, true])('programs in an archive are signed, and all else stays (deflated: %s)', async (isDeflated) => {
  const letter = makeCompoundFile({ clsid: '00'.repeat(16), children: [] });
  const parts = { 'a.txt': NOTES, 'bin/app.exe': hello, 'b.doc': letter, 'setup.msi': makeCompoundFile() };
  const original = zipOf(parts, isDeflated);
  const path = await write('app.zip', original);
  const before = requests();
  const run = await sign('app.zip', '--json');
  expect([run.code, requests() - before]).toEqual([0, 2]);
  expect(parseJson(run).files).toMatchObject([
    { inside: [{ location: 'app.zip!/bin/app.exe' }, { location: 'app.zip!/setup.msi', format: 'msi' }] },
  ]);
  execFileSync('unzip', ['-tq', path]);
  const result = await readFile(path);
  for (const [name, next] of [
    ['a.txt', 'bin/app.exe'],
    ['b.doc', 'setup.msi'],
  ] as const) {
    expect(result.includes(original.subarray(original.indexOf(name) - 30, original.indexOf(next) - 30))).toBe(true);
  }
  for (const name of ['bin/app.exe', 'setup.msi']) {
    const program = await write('extracted', execFileSync('unzip', ['-p', path, name]));
    expect(await osslsigncodeVerify(server.roots, program)).toMatchObject({ accepted: true });
  }
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
  const verify = ['verify', '--inside', '--roots', server.roots, 'p.nupkg', 'outer.zip'];
  expect((await runCli(verify, { cwd: scratch.path })).stdout).toContain('4 good, ');
});

const wheel = zipOf({ 'p/a.pyd': library, 'p-1.0.dist-info/RECORD': NOTES });
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
  ['broken.exe', flipped(signed, 0x210), 'inside-broken'],
  ['damaged.zip', flipped(zipOf({ 'a.exe': hello }), 100), 'inside-unfit'],
  ['cut.exe', hello.subarray(0, 300), 'inside-unfit'],
])(
  'before the first request, a run is rejected for %s in an archive, next to a file that could be signed',
  async (name, bytes, code) => {
    await write('app.zip', zipOf({ 'good.exe': hello, [name]: bytes }));
    await write('other.exe', hello);
    const [untouched, before] = [await snapshot(scratch.path), requests()];
    const run = await sign('--json', 'app.zip', 'other.exe');
    expect([run.code, parseJson(run).files.map(({ error }) => error?.code)]).toEqual([6, [code, 'not-attempted']]);
    expect(parseJson(run).files[0]?.error).toMatchObject({
      message: expect.stringContaining(`app.zip!/${name}`),
      hint: expect.any(String),
    });
    expect((await sign('--dry-run', 'app.zip')).code).toBe(6);
    expect((await sign('--dry-run', '--exclude', name, 'app.zip')).code).toBe(0);
    expect([await snapshot(scratch.path), requests()]).toEqual([untouched, before]);
  },
);
