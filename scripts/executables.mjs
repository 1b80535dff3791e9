// Single executables: Node.js with the bundled program inside (docs/decisions/single-executables.md).
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { run, runOrFail } from '../server/scripts/run.mjs';

/** Versions that the packages of all these platforms have on npm, with the integrity of each package. */
const NODES = {
  'linux-x64': {
    version: '26.10.0',
    sha512: 'OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==',
  },
  'linux-arm64': {
    version: '26.10.0',
    sha512: 'idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==',
  },
  // The newest Node.js for Windows that Wine runs, so that the tests can run the executable.
  'win-x64': {
    version: '22.23.3',
    sha512: 'lJNBVsNw5Zf+VEHAwatmQxF8eY5hHVEd1ufVYn+5XVrSNB0x55V1cd/rJyOeElCnY2cRebGq//siePEGRZKYjg==',
  },
  // Node.js prepares the program only for its own version.
  'linux-x64-22': {
    version: '22.23.3',
    sha512: 'qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==',
  },
};

export const EXECUTABLES = [
  { suffix: 'linux-x64', build: (file, job) => buildForLinux(file, 'linux-x64', job) },
  { suffix: 'linux-arm64', build: (file, job) => buildForLinux(file, 'linux-arm64', job) },
  { suffix: 'win-x64.exe', build: buildForWindows },
];

async function buildForLinux(file, platform, job) {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error('executables are built on Linux x64 only');
  const builder = path.join(await nodeOf('linux-x64', job), 'bin', 'node');
  const executable = path.join(await nodeOf(platform, job), 'bin', 'node');
  const config = await writeConfig(job, { output: file, executable });
  await runOrFail(builder, ['--build-sea', config]);
  await chmod(file, 0o755);
  if (platform !== 'linux-x64') return 'not run on this machine';
  await runOrFail(file, ['explain', 'file-changed'], { env: {} });
}

async function buildForWindows(file, job) {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error('executables are built on Linux x64 only');
  const builder = path.join(await nodeOf('linux-x64-22', job), 'bin', 'node');
  const executable = path.join(await nodeOf('win-x64', job), 'bin', 'node.exe');
  const blob = path.join(job.work, 'windows.blob');
  await runOrFail(builder, ['--experimental-sea-config', await writeConfig(job, { output: blob })]);
  await copyFile(executable, file);
  // Its signature would stay as a stale certificate table.
  await runOwn(['remove', file], job);
  const fuse = ['--sentinel-fuse', 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'];
  await runOrFail('npx', ['--yes', 'postject@1.0.0-alpha.6', file, 'NODE_SEA_BLOB', blob, ...fuse], { cwd: job.work });
  if (!(await hasService(job))) return 'not signed, because no signing service is configured';
  await runOwn(['sign', '--description', 'codesign-remote', file], job);
  return 'signed';
}

/** The code cache is not used, because it is valid only on the platform that builds it. */
async function writeConfig({ work, checkout }, more) {
  const program = path.join(checkout, 'release', 'program');
  const config = {
    main: path.join(program, 'cli.cjs'),
    disableExperimentalSEAWarning: true,
    assets: {
      'errors.md': path.join(checkout, 'docs', 'errors.md'),
      'codesign-remote.1': path.join(checkout, 'dist', 'man', 'codesign-remote.1'),
      'digest-worker.cjs': path.join(program, 'digest-worker.cjs'),
    },
    ...more,
  };
  const file = path.join(work, `${path.basename(more.output)}.json`);
  await writeFile(file, JSON.stringify(config));
  return file;
}

/** Downloads and unpacks a Node.js from npm once. Returns its folder. */
async function nodeOf(name, { work }) {
  const folder = path.join(work, `node-${name}`);
  const { version, sha512 } = NODES[name];
  const platform = name.replace(/-\d+$/, '');
  const archive = path.join(work, `node-${platform}-${version}.tgz`);
  if (existsSync(path.join(folder, 'package.json'))) return folder;
  await mkdir(folder, { recursive: true });
  await runOrFail('npm', ['pack', '--silent', `node-${platform}@${version}`], { cwd: work });
  const digest = createHash('sha512')
    .update(await readFile(archive))
    .digest('base64');
  if (digest !== sha512) throw new Error(`node-${platform}@${version} is not the expected package`);
  await runOrFail('tar', ['-xzf', archive, '-C', folder, '--strip-components=1']);
  return folder;
}

/** Runs the program that this release consists of, with the user's settings. */
async function runOwn(args, job) {
  const node = path.join(await nodeOf('linux-x64', job), 'bin', 'node');
  await runOrFail(node, [path.join(job.checkout, 'bin', 'codesign-remote.js'), ...args]);
}

async function hasService(job) {
  const node = path.join(await nodeOf('linux-x64', job), 'bin', 'node');
  const program = path.join(job.checkout, 'bin', 'codesign-remote.js');
  const { code, stdout, output } = await run(node, [program, 'config', 'list', '--json']);
  if (code !== 0) throw new Error(output.trim());
  const keys = new Set(JSON.parse(stdout).settings.map(({ key }) => key));
  return ['baseUrl', 'code', 'certificate'].every((key) => keys.has(key));
}
