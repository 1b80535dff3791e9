/**
 * The packed program, through npx in an empty folder with an empty home and no scripts allowed, signs on every Node that it
 * promises to run on. CODESIGN_TEST_NODES names a folder with further ones: 24/node_modules/.bin/node and so on.
 */

import { execFile } from 'node:child_process';
import { copyFile, mkdir, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { fixture, temporaryFolder } from '../../support/programs/cli.ts';
import { useServer } from '../../support/services/shared-server.ts';
import { forAll } from '../../support/set-up.ts';
import { osslsigncodeVerify } from '../interop/verifiers.ts';
import { packOnce } from './pack.ts';

const NODES = process.env.CODESIGN_TEST_NODES ?? '';
const run = promisify(execFile);

async function programs(): Promise<readonly (readonly [string, string])[]> {
  const further = NODES === '' ? [] : (await readdir(NODES)).sort();
  const paths = further.map((name) => [name, join(NODES, name, 'node_modules', '.bin', 'node')] as const);
  return [['that runs the tests', process.execPath], ...paths];
}

const [server, folder] = await Promise.all([forAll(useServer()), forAll(temporaryFolder('codesign-npx-'))]);
const { tarball } = await packOnce();
/** npm's settings on this machine, which another Node.js and an empty home would hide: packages may come from a mirror. */
const settingsIn = async (which: string) => (await run('npm', ['config', 'get', which])).stdout.trim();
const npmSettings = {
  npm_config_globalconfig: await settingsIn('globalconfig'),
  npm_config_userconfig: await settingsIn('userconfig'),
};

async function sizeOf(path: string): Promise<number> {
  const names = await readdir(path, { recursive: true });
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(path, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

it.each(await programs())('Node %s', async (name, node) => {
  const { stdout: version } = await run(node, ['--version']);
  const home = join(folder.path, `home-${name.replaceAll(' ', '-')}`);
  const project = join(home, 'project');
  await mkdir(project, { recursive: true });
  await copyFile(fixture('pe/hello.exe'), join(project, 'app.exe'));
  const npmCli = join(dirname(await realNpm()), 'npx-cli.js');
  const env = {
    PATH: `${dirname(node)}:/usr/bin:/bin`,
    HOME: home,
    ...server.env,
    CODESIGN_STATE_DIR: join(home, 'state'),
    npm_config_cache: join(home, 'cache'),
    npm_config_ignore_scripts: 'true',
    ...npmSettings,
  };
  // Node.js 20 has no SQLite.
  const hasSqlite = (await run(node, ['-p', 'process.versions.sqlite'])).stdout.trim() !== 'undefined';
  const packages = [tarball, ...(hasSqlite ? [] : ['libsql'])].map((one) => `--package=${one}`);
  const started = performance.now();
  const { stdout } = await run(
    node,
    [npmCli, '--yes', ...packages, 'codesign-remote', 'sign', '--no-timestamp', '--json', 'app.exe'],
    { cwd: project, env },
  );
  const seconds = (performance.now() - started) / 1000;

  expect(JSON.parse(stdout)).toMatchObject({ summary: { signed: 1, failed: 0 } });
  const { accepted, output } = await osslsigncodeVerify(server.roots, join(project, 'app.exe'));
  expect(accepted, output).toBe(true);
  const [installed = ''] = await readdir(join(home, 'cache', '_npx'));
  const installedIn = join(home, 'cache', '_npx', installed);
  const script = "console.log(typeof require('codesign-remote').signFiles)";
  expect((await run(node, ['--eval', script], { cwd: installedIn, env })).stdout).toBe('function\n');
  const bytes = await sizeOf(join(installedIn, 'node_modules'));
  console.log(
    `${version.trim()}: ${seconds.toFixed(1)} s from nothing to a signed file, ${(bytes / 1e6).toFixed(1)} MB`,
  );
  expect(bytes).toBeLessThan(hasSqlite ? 25e6 : 50e6);
});

/** Where this machine's npm is, as a program of Node. */
async function realNpm(): Promise<string> {
  const { stdout } = await run('sh', ['-c', 'readlink -f "$(command -v npm)"']);
  return stdout.trim();
}
