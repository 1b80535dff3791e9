/**
 * What `npm run release` makes: the executables sign without Node.js on the PATH, and other programs accept what they sign.
 * CODESIGN_TEST_RELEASE names a folder with an earlier result, which saves minutes.
 */

import { execFile, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { fixture, REPOSITORY, temporaryFolder } from '../../support/programs/cli.ts';
import { PREFIX_VARIABLE, runWindowsProgram, windowsPath, windowsVariables } from '../../support/programs/windows.ts';
import { useServer } from '../../support/services/shared-server.ts';
import { forAll } from '../../support/set-up.ts';

const start = promisify(execFile);
const GIVEN = process.env.CODESIGN_TEST_RELEASE;
/** Where Debian's package libc6-arm64-cross installs the libraries for arm64. */
const ARM64_LIBRARIES = '/usr/aarch64-linux-gnu';
const hasArm64 = existsSync(ARM64_LIBRARIES) && spawnSync('qemu-aarch64', ['--version']).status === 0;

const [server, room] = await Promise.all([forAll(useServer({ tsa: true })), forAll(temporaryFolder())]);
/** No PATH, and nothing of this process. */
const env = { ...server.env, HOME: room.path, CODESIGN_STATE_DIR: join(room.path, 'state') };
const release = GIVEN ?? join(REPOSITORY, 'release');
// The release signs its Windows executable with this service.
if (GIVEN === undefined) await start('npm', ['run', 'release'], { cwd: REPOSITORY, env: { ...process.env, ...env } });
const names = await readdir(release);
/** Paths of the artifacts by the end of their names. */
const artifact = (end: string) => join(release, names.find((name) => name.endsWith(end)) ?? `no ${end}`);

const run = (program: string, args: readonly string[]) => start(program, args, { env, cwd: room.path });
const osslsigncodeVerify = (path: string) =>
  start('osslsigncode', ['verify', '-CAfile', server.roots, '-TSA-CAfile', server.roots, path]);

/** Returns the names of a process's threads. The name of a thread that has ended meanwhile is empty. */
async function threadsOf(pid: number | undefined): Promise<readonly string[]> {
  const folder = `/proc/${pid}/task`;
  const ids = await readdir(folder).catch(() => []);
  return Promise.all(ids.map((id) => readFile(join(folder, id, 'comm'), 'utf8').catch(() => '')));
}

async function copyOf(name: string, target: string): Promise<string> {
  const path = join(room.path, target);
  await copyFile(fixture(name), path);
  return path;
}

it('has a checksum for each artifact, and names the packages inside', async () => {
  await start('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: release });
  const sums = await readFile(join(release, 'SHA256SUMS'), 'utf8');
  expect(sums.trim().split('\n').length).toBe((await readdir(release)).length - 1);
  const { bomFormat, components } = JSON.parse(await readFile(artifact('.cdx.json'), 'utf8'));
  const names = components.map(({ name }: { name: string }) => name);
  expect(bomFormat).toBe('CycloneDX');
  expect(names).toEqual(expect.arrayContaining(['commander', 'node-forge', 'undici', 'valibot']));
  expect(names).not.toContain('vitest');
});

describe('the executable for Linux', () => {
  it('explains errors, completes, prints its manual page, checks a setup, and verifies', async () => {
    const program = artifact('-linux-x64');
    expect((await run(program, ['explain', 'file-changed'])).stdout).toContain('exit code  6');
    expect((await run(program, ['completion', 'bash'])).stdout).toContain('complete -F');
    const manual = await readFile(join(REPOSITORY, 'dist/man/codesign-remote.1'), 'utf8');
    expect((await run(program, ['man'])).stdout).toBe(manual);
    expect((await run(program, ['doctor'])).stdout).toContain('a single executable cannot load the package keytar');
    const trust = ['--roots', fixture('golden/root.pem')];
    expect((await run(program, ['verify', ...trust, fixture('golden/sha256-rsa2048.exe')])).stdout).toContain(
      'trusted',
    );
  });

  it.for([
    ['x64', []],
    ['arm64', ['qemu-aarch64', '-L', ARM64_LIBRARIES]],
  ] as const)(
    'signs a program and an archive on %s, which other programs accept',
    async ([arch, emulator], context) => {
      context.skip(emulator.length > 0 && !hasArm64);
      const [program = '', ...first] = [...emulator, artifact(`-linux-${arch}`)];
      const files = [await copyOf('pe/hello.exe', `${arch}.exe`), await copyOf('jar/plain.jar', `${arch}.jar`)];
      await run(program, [...first, 'sign', ...files]);
      await osslsigncodeVerify(files[0] ?? '');
      expect((await start('jarsigner', ['-verify', files[1] ?? ''])).stdout).toContain('jar verified');
    },
  );

  it('digests a large archive in threads, and jarsigner accepts the result', async () => {
    const path = join(room.path, 'large.jar');
    const make =
      'mkdir large && head -c 110M /dev/urandom | split -b 900K - large/ && jar -c -0 -f large.jar -C large .';
    await start('sh', ['-c', make], { cwd: room.path });
    const child = spawn(artifact('-linux-x64'), ['sign', path], { env, stdio: 'ignore' });
    const threads = new Set<string>();
    while (child.exitCode === null) {
      for (const name of await threadsOf(child.pid)) threads.add(name);
      await sleep(5);
    }
    expect(threads).toContain('digests\n');
    expect((await start('jarsigner', ['-verify', path])).stdout).toContain('jar verified');
  });
});

it('is installed by dpkg, with manual page, documents and completions, and is removed without a trace', async () => {
  const root = join(room.path, 'debian');
  await mkdir(join(root, 'var/lib/dpkg/updates'), { recursive: true });
  await mkdir(join(root, 'var/lib/dpkg/info'));
  await writeFile(join(root, 'var/lib/dpkg/status'), '');
  // The libraries that the package depends on are not in this folder, and the tests may run without root.
  const options = [`--root=${root}`, '--log=/dev/null', '--force-depends', '--force-not-root', '--force-bad-path'];
  const installed = (path: string) => join(root, 'usr', path);

  await start('dpkg', [...options, '--install', artifact('.deb')]);
  const help = await run(installed('bin/codesign-remote'), ['--help']);
  expect(help.stdout).toContain(installed('lib/codesign-remote/docs'));
  const manual = await start('man', ['-M', installed('share/man'), 'codesign-remote']);
  expect(manual.stdout).toContain('codesign-remote sign [options] files ...');
  for (const [path, content] of [
    ['bash-completion/completions/codesign-remote', 'complete -F'],
    ['zsh/vendor-completions/_codesign-remote', '#compdef codesign-remote'],
    ['fish/vendor_completions.d/codesign-remote.fish', 'complete -c codesign-remote'],
  ] as const) {
    expect(await readFile(installed(`share/${path}`), 'utf8')).toContain(content);
  }

  await start('dpkg', [...options, '--remove', 'codesign-remote']);
  expect(await readdir(root)).toEqual(['var']);
});

describe('the executable for Windows', () => {
  it.skipIf(GIVEN !== undefined)('is signed by the release', async () => {
    await osslsigncodeVerify(artifact('-win-x64.exe'));
  });

  it.skipIf(!process.env[PREFIX_VARIABLE])('signs and verifies under Wine', async () => {
    const path = await copyOf('pe/hello.exe', 'wine.exe');
    const variables = windowsVariables(env);
    const sign = await runWindowsProgram(artifact('-win-x64.exe'), ['sign', windowsPath(path)], { env: variables });
    expect(sign).toMatchObject({ code: 0, stdout: expect.stringContaining('signed') });
    await osslsigncodeVerify(path);
    const explain = await runWindowsProgram(artifact('-win-x64.exe'), ['explain', 'file-changed']);
    expect(explain.stdout).toContain('exit code  6');
  });
});
