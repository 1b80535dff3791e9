import { execFile } from 'node:child_process';
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { fixture, parseJson, runCli } from '../support/programs/cli.ts';
import { jarsignerVerify, mainJava, makeTruststore } from '../support/programs/java.ts';
import {
  installed,
  runWindowsCli,
  runWindowsNode,
  windowsPath,
  windowsVariables,
} from '../support/programs/windows.ts';
import { startServer } from '../support/services/server.ts';
import { folderForEach, forAll } from '../support/set-up.ts';
import { osslsigncodeVerify } from '../system/interop/verifiers.ts';
import { copyProgram, expectSigned } from './programs.ts';

/** Folder with the release of Node.js that Windows' one has here: the same zlib compresses to the same bytes. */
const NODES = process.env.CODESIGN_TEST_NODES ?? '';
/** Folder into which npm installed the build tools. */
const TOOLS = process.env.CODESIGN_TEST_BUILD_TOOLS ?? '';

const server = await forAll(startServer({ tsa: true }));
const folder = folderForEach();
const env = windowsVariables(server.env);
const root = server.roots;

const requests = () => server.operations('sign').length;

it('writes the bytes that Linux writes: a program, and an archive by the same release of Node.js', async () => {
  const names = ['hello.exe', 'plain.jar', 'unicode-names.jar'];
  for (const side of ['windows', 'linux']) {
    await mkdir(folder.at(side));
    for (const name of names) {
      await copyFile(fixture(`${name.endsWith('.exe') ? 'pe' : 'jar'}/${name}`), folder.at(side, name));
    }
  }
  const at = (side: string) => names.map((name) => folder.at(side, name));
  const node = join(NODES, '22', 'node_modules', '.bin', 'node');
  const versions = [await runWindowsNode(['--version']), await runCli([], { node, program: '--version' })];
  expect(versions[0]?.stdout.trim()).toBe(versions[1]?.stdout.trim());
  const there = await runWindowsCli(['sign', '--no-timestamp', '--json', ...at('windows').map(windowsPath)], { env });
  expect(parseJson(there).summary).toMatchObject({ signed: names.length, failed: 0 });
  const here = await runCli(['sign', '--no-timestamp', ...at('linux')], { env: server.env, node });
  expect(here.code, here.stderr).toBe(0);
  for (const [index, path] of at('windows').entries()) {
    expect((await readFile(path)).equals(await readFile(at('linux')[index] ?? '')), path).toBe(true);
  }
  await expectSigned(root, at('windows')[0] ?? '');
  const truststore = makeTruststore(await readFile(root, 'utf8'), folder.path);
  for (const path of at('windows').slice(1)) {
    const { accepted, output } = await jarsignerVerify(mainJava(), truststore, path);
    expect(accepted, output).toBe(true);
  }
});

it('timestamps, extracts, removes and attaches a signature', async () => {
  const app = folder.at('app.exe');
  await copyProgram(app);
  const options = { env, cwd: folder.path };
  const run = async (...args: readonly string[]) => {
    const done = await runWindowsCli(args, options);
    expect(done.code, `${args.join(' ')}: ${done.stdout}${done.stderr}`).toBe(0);
  };
  await run('sign', 'app.exe');
  const { output } = await osslsigncodeVerify(root, app);
  expect(output).toContain('Timestamp Server Signature verification: ok');
  await run('extract', 'app.exe', '--output', 'app.p7s');
  await run('remove', 'app.exe');
  expect((await osslsigncodeVerify(root, app)).accepted).toBe(false);
  await run('attach', 'app.exe', 'app.p7s');
  await expectSigned(root, app);
});

it('installs through npm, whose command files for cmd.exe and PowerShell start the program', async () => {
  const { stdout: globalFolder } = await promisify(execFile)('npm', ['root', '--global']);
  const npm = join(globalFolder.trim(), 'npm', 'bin', 'npm-cli.js');
  await writeFile(folder.at('package.json'), '{"private":true}');
  const packed = (await readdir(dirname(dirname(installed())))).find((name) => name.endsWith('.tgz')) ?? '';
  const tarball = windowsPath(join(dirname(dirname(installed())), packed));
  const args = ['install', '--offline', '--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund', tarball];
  const run = await runWindowsNode([windowsPath(npm), ...args], { cwd: folder.path });
  expect(run.code, run.stdout + run.stderr).toBe(0);
  const commandFile = (ending: string) =>
    readFile(folder.at('node_modules', '.bin', `codesign-remote${ending}`), 'utf8');
  expect(await commandFile('.cmd')).toContain('"%_prog%"  "%dp0%\\..\\codesign-remote\\bin\\codesign-remote.js" %*');
  expect(await commandFile('.ps1')).toContain('"$basedir/../codesign-remote/bin/codesign-remote.js" $args');
  await copyProgram(folder.at('app.exe'));
  const program = windowsPath(folder.at('node_modules', 'codesign-remote', 'bin', 'codesign-remote.js'));
  const state = windowsPath(folder.at('state'));
  const signed = await runWindowsNode([program, 'sign', '--no-timestamp', 'app.exe'], {
    env: { ...env, CODESIGN_STATE_DIR: state },
    cwd: folder.path,
  });
  expect(signed.code, signed.stderr).toBe(0);
  await expectSigned(root, folder.at('app.exe'));
});

describe('hooks of build tools', () => {
  const hook = (name: string) => JSON.stringify(windowsPath(installed('dist', `${name}.js`)));

  it.each([
    [
      'electron-builder',
      (file: string) => `
        const { WindowsSignToolManager } = require('app-builder-lib/out/codeSign/windowsSignToolManager');
        const options = { signtoolOptions: { sign: ${hook('electron-builder')} } };
        const packager = {
          platformSpecificBuildOptions: options,
          appInfo: { type: 'commonjs', productName: 'Example', computePackageUrl: async () => 'https://example.com' },
          info: { getWorkspaceRoot: async () => 'Z:\\\\' },
          getCscLink: () => null,
        };
        new WindowsSignToolManager(packager).signFile({ path: ${JSON.stringify(file)}, options })
          .catch((error) => { console.error(error); process.exit(1); });`,
    ],
    [
      '@electron/windows-sign',
      (file: string) => `
        const { sign } = require('@electron/windows-sign');
        const appDirectory = require('path').dirname(${JSON.stringify(file)});
        sign({ appDirectory, hookModulePath: ${hook('electron-windows-sign')} });`,
    ],
  ])('%s signs a program with one request', async (_, script) => {
    const file = folder.at('application', 'app.exe');
    await copyProgram(file);
    const before = requests();
    const run = await runWindowsNode(['--eval', script(windowsPath(file))], {
      env: { ...env, CODESIGN_STATE_DIR: windowsPath(folder.at('state')) },
      cwd: TOOLS,
    });
    expect(run.code, run.stdout + run.stderr).toBe(0);
    await expectSigned(root, file);
    expect(requests() - before).toBe(1);
  });
});
