/**
 * The recipes and policies of docs/verify-inside.md, with applications that were packed and signed by other programs. What
 * these programs extract has the same verdicts as the files inside.
 */

import { execFileSync } from 'node:child_process';
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { blocksIn, commandsIn } from '../../documentation/command-blocks.ts';
import { fixture, runCli } from '../../support/programs/cli.ts';
import { folderForAll } from '../../support/set-up.ts';
import { type CertificateRequest, makePki, TIME_STAMPING, testKey, toP12 } from '../../support/signed-files/pki.ts';

const { CODESIGN_TEST_BUILD_TOOLS: tools = '', CODESIGN_TEST_CORPUS: corpus = '' } = process.env;
const ASAR = join(tools, 'node_modules/@electron/asar/bin/asar.js');
const JNA = join(corpus, 'jar/libjna-java__jna-5.13.0.jar');
const BLOCKS = blocksIn(['docs/verify-inside.md']);
const POLICIES = BLOCKS.filter(({ text }) => text.includes('"version": 1')).map(({ text }) => text);
const policyWith = (text: string) => POLICIES.findLast((policy) => policy.includes(text)) ?? '';

const folder = folderForAll();
const keys = join(folder, 'keys');
const at = (...names: readonly string[]) => join(folder, ...names);
const run = (program: string, args: readonly string[], cwd = folder) =>
  execFileSync(program, args, { cwd, stdio: 'pipe', encoding: 'utf8' });

const pki = makePki('Recipe');

/** Writes the key to `NAME.key`, and its certificate and the issuers' certificates to `NAME.chain`. */
async function issue(name: string, request: Partial<CertificateRequest>): Promise<void> {
  const leaf = pki.leaf({ key: testKey('rsa-2048', name), ...request });
  const all = [leaf, pki.intermediate, pki.root];
  await writeFile(join(keys, `${name}.key`), leaf.privateKey.export({ type: 'pkcs8', format: 'pem' }));
  await writeFile(join(keys, `${name}.chain`), all.map(({ pem }) => pem).join(''));
  await writeFile(join(keys, `${name}.p12`), toP12(all, 'example'));
}

async function place(path: string, signer?: string): Promise<void> {
  await mkdir(join(path, '..'), { recursive: true });
  if (signer === undefined) return await copyFile(fixture('pe/hello.exe'), path);
  const [certs, key] = [join(keys, `${signer}.chain`), join(keys, `${signer}.key`)];
  const tsa = ['-TSA-certs', join(keys, 'tsa.chain'), '-TSA-key', join(keys, 'tsa.key')];
  run('osslsigncode', ['sign', '-certs', certs, '-key', key, ...tsa, '-in', fixture('pe/hello.exe'), '-out', path]);
}

beforeAll(async () => {
  await mkdir(keys);
  await writeFile(join(keys, 'root.pem'), pki.root.pem);
  await issue('own', { organization: 'Example Ltd', commonName: 'Example Ltd' });
  await issue('microsoft', { organization: 'Microsoft Corporation', commonName: 'Microsoft' });
  await issue('net', { commonName: '.NET' });
  await issue('tsa', { commonName: 'Recipe Clock', purposes: [TIME_STAMPING] });

  const unpacked = at('electron', 'dist', 'win-unpacked');
  await place(join(unpacked, 'App.exe'), 'own');
  await place(join(unpacked, 'd3dcompiler_47.dll'), 'microsoft');
  await place(join(unpacked, 'resources/app.asar.unpacked/node_modules/x/helper.exe'));
  await place(at('packed', 'lib', 'native.node'), 'own');
  await writeFile(at('packed', 'main.js'), 'require("./lib/native.node")');
  run(process.execPath, [ASAR, 'pack', at('packed'), join(unpacked, 'resources', 'app.asar')]);
  await place(at('electron', 'dist', 'App Setup.exe'), 'own');

  await place(at('net', 'dist', 'App.exe'), 'own');
  await place(at('net', 'dist', 'System.Core.dll'), 'net');
  await place(at('net', 'dist', 'Microsoft.Data.dll'), 'microsoft');

  const jar = at('java', 'dist', 'lib', 'app-1.jar');
  await place(at('classes', 'win', 'app.dll'), 'own');
  await mkdir(join(jar, '..'), { recursive: true });
  run('jar', ['--create', '--file', jar, '-C', at('classes'), 'win']);
  run('jarsigner', ['-keystore', join(keys, 'own.p12'), '-storepass', 'example', jar, '1']);
}, 120_000);

const APPLICATIONS = [
  { name: 'electron', policy: () => policyWith('dxcompiler.dll'), bad: 'win-unpacked/ffmpeg.dll' },
  { name: 'net', policy: () => policyWith('.NET'), bad: 'Other.dll' },
  { name: 'java', policy: () => policyWith('app-*.jar'), bad: 'lib/app-2.jar' },
] as const;

describe.each(APPLICATIONS)('the policy of $name', ({ name, policy, bad }) => {
  const home = at(name);
  const verify = () => runCli(['verify', '--policy', 'codesign-policy.json', 'dist/'], { cwd: home });

  it('is met after the first policy gave the roots, and fails for one more file', async () => {
    expect((await runCli(['verify', '--print-policy', 'dist/'], { cwd: home })).code).toBe(0);
    const first = await readFile(join(home, 'codesign-policy.json'), 'utf8');
    await writeFile(join(home, 'codesign-policy.json'), first.replaceAll('TODO', 'a reason'));
    expect(await verify()).toMatchObject({ code: 0, stderr: '' });

    await writeFile(join(home, 'codesign-policy.json'), policy());
    const whole = await verify();
    expect(whole.stdout).not.toMatch(/^(failed|unsigned|untrusted)/m);
    expect([whole.code, whole.stderr]).toEqual([0, '']);
    await (bad.endsWith('.jar') ? copyFile(JNA, join(home, 'dist', bad)) : place(join(home, 'dist', bad)));
    const { code, stdout } = await verify();
    expect(stdout).toContain(bad);
    expect(code).toBe(8);
    await rm(join(home, 'dist', bad));
  });
});

it('has recipes whose commands pass', async () => {
  const recipes = BLOCKS.filter(({ language }) => language === 'yaml' || language === 'groovy');
  const commands = recipes.flatMap(({ text }) =>
    commandsIn(text.replace('--package=./tools/codesign-remote-0.1.0.tgz ', '')),
  );
  expect(commands).toHaveLength(4);
  for (const command of commands) {
    expect(await runCli(command, { cwd: at('electron') })).toMatchObject({ code: 0 });
  }
});

/** An installer of two programs, one of them signed. Its cabinet lists them by their keys. */
const INSTALLER = `<Wix xmlns="http://schemas.microsoft.com/wix/2006/wi">
<Product Id="*" Name="App" Language="1033" Version="1.0.0" Manufacturer="Example Ltd" UpgradeCode="11111111-1111-1111-1111-111111111111">
<Package InstallerVersion="200" Compressed="yes"/><Media Id="1" Cabinet="app.cab" EmbedCab="yes"/>
<Directory Id="TARGETDIR" Name="SourceDir"><Component Id="C" Guid="22222222-2222-2222-2222-222222222222">
<File Id="F1" Source="win-unpacked/App.exe"/><File Id="F2" Source="win-unpacked/resources/app.asar.unpacked/node_modules/x/helper.exe"/>
</Component></Directory><Feature Id="A" Level="1"><ComponentRef Id="C"/></Feature></Product></Wix>`;

it('finds what unzip, GNU tar, @electron/asar, msiextract and cabextract extract, with the same verdicts', async () => {
  const content = at('electron', 'dist', 'win-unpacked');
  const archives = at('archives');
  await mkdir(archives);
  run('zip', ['-qr', join(archives, 'app.zip'), '.'], content);
  run('tar', ['-czf', join(archives, 'app.tar.gz'), '.'], content);
  await copyFile(join(content, 'resources', 'app.asar'), join(archives, 'app.asar'));
  await writeFile(at('app.wxs'), INSTALLER);
  run('wixl', ['-o', join(archives, 'app.msi'), at('app.wxs')], at('electron', 'dist'));
  await writeFile(
    join(archives, 'app.cab'),
    execFileSync('msiinfo', ['extract', join(archives, 'app.msi'), 'app.cab'], { stdio: 'pipe' }),
  );
  const extract: Readonly<Record<string, (path: string, to: string) => string>> = {
    'app.zip': (path, to) => run('unzip', ['-q', path, '-d', to]),
    'app.tar.gz': (path, to) => run('tar', ['-xzf', path, '-C', to]),
    'app.asar': (path, to) => run(process.execPath, [ASAR, 'extract', path, to]),
    'app.msi': (path, to) => run('msiextract', ['-C', to, path]),
    'app.cab': (path, to) => run('cabextract', ['-q', '-d', to, path]),
  };
  // tar lists ./NAME, and an installer lists NAME (KEY).
  const extractedName = (name: string) => name.replace(/^\.\/| \(.*\)$/g, '');
  for (const [name, unpack] of Object.entries(extract)) {
    const to = at('extracted', name);
    await mkdir(to, { recursive: true });
    unpack(join(archives, name), to);
    const entries = await readdir(to, { recursive: true, withFileTypes: true });
    const paths = entries
      .filter((entry) => entry.isFile())
      .map((entry) => relative(to, join(entry.parentPath, entry.name)));
    const roots = ['--json', '--roots', join(keys, 'root.pem')];
    const inside = await runCli(['verify', '--inside', '--verbose', ...roots, join(archives, name)]);
    const [{ inside: found }] = JSON.parse(inside.stdout).files;
    const ofArchive = found.filter(({ path }: { path: string[] }) => path.length === 2);
    expect(ofArchive.map(({ path }: { path: string[] }) => extractedName(path[1] ?? '')).sort()).toEqual(paths.sort());
    const separate = JSON.parse((await runCli(['verify', '--recursive', ...roots, to])).stdout).files;
    const verdicts = new Map(
      separate.map(({ path, verdict }: { path: string; verdict: string }) => [relative(to, path), verdict]),
    );
    for (const { path, verdict, kind } of ofArchive) {
      if (kind === 'pe') expect([path[1], verdict]).toEqual([path[1], verdicts.get(extractedName(path[1]))]);
    }
    expect(ofArchive.filter(({ kind }: { kind: string }) => kind === 'pe')).toHaveLength(separate.length);
  }
});
