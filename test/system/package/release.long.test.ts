/**
 * What `npm run release` makes: the executables sign without Node.js on the PATH, and other programs accept what they sign.
 * CODESIGN_TEST_RELEASE names a folder with an earlier result, which saves minutes.
 */

import { execFile, spawn } from 'node:child_process';
import { copyFile, mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fixture, REPOSITORY, temporaryFolder } from '../../support/programs/cli.ts';
import { PREFIX_VARIABLE, runWindowsProgram, windowsPath, windowsVariables } from '../../support/programs/windows.ts';
import { type SharedServer, useServer } from '../../support/services/shared-server.ts';
import { startTimestampAuthority } from '../../support/services/timestamp-authority.ts';

const start = promisify(execFile);
const GIVEN = process.env.CODESIGN_TEST_RELEASE;

let server: SharedServer;
let room: Awaited<ReturnType<typeof temporaryFolder>>;
let release: string;
/** Paths of the artifacts by the end of their names. */
let artifact: (end: string) => string;
/** No PATH, and nothing of this process. */
let env: Readonly<Record<string, string>>;

beforeAll(async () => {
  [server, room] = await Promise.all([useServer({ tsa: true }), temporaryFolder()]);
  env = { ...server.env, HOME: room.path, CODESIGN_STATE_DIR: join(room.path, 'state') };
  release = GIVEN ?? join(REPOSITORY, 'release');
  // The release signs its Windows executable with this service.
  if (GIVEN === undefined) await start('npm', ['run', 'release'], { cwd: REPOSITORY, env: { ...process.env, ...env } });
  const names = await readdir(release);
  artifact = (end) => join(release, names.find((name) => name.endsWith(end)) ?? `no ${end}`);
}, 540_000);
afterAll(async () => {
  await server?.stop();
  await room?.[Symbol.asyncDispose]();
});

const run = (program: string, args: readonly string[]) => start(program, args, { env, cwd: room.path });

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
  it('explains errors, completes, and checks a setup', async () => {
    const program = artifact('-linux-x64');
    expect((await run(program, ['explain', 'file-changed'])).stdout).toContain('exit code  6');
    expect((await run(program, ['completion', 'bash'])).stdout).toContain('complete -F');
    expect((await run(program, ['doctor'])).stdout).toContain('a single executable cannot load the package keytar');
  });

  it('signs a program and an archive, which other programs accept', async () => {
    const program = artifact('-linux-x64');
    const files = [await copyOf('pe/hello.exe', 'app.exe'), await copyOf('jar/plain.jar', 'lib.jar')];
    await run(program, ['sign', ...files]);
    const verified = await run(program, ['verify', '--roots', server.roots, '--require-timestamp', ...files]);
    expect(verified.stdout).toContain('2 trusted');
    await start('osslsigncode', ['verify', '-CAfile', server.roots, '-TSA-CAfile', server.roots, files[0] ?? '']);
    expect((await start('jarsigner', ['-verify', files[1] ?? ''])).stdout).toContain('jar verified');
  });

  it('is killed while it waits for a timestamp, and finishes the file without a second signature', async () => {
    const program = artifact('-linux-x64');
    const path = await copyOf('pe/arm64.exe', 'killed.exe');
    const authority = await startTimestampAuthority();
    const before = server.operations('sign').length;
    try {
      const child = spawn(program, ['sign', '-t', authority.urlOf('hang'), path], { env, stdio: 'ignore' });
      while (authority.requests.length === 0) await sleep(20);
      child.kill('SIGKILL');
      await new Promise((resolve) => child.once('close', resolve));
    } finally {
      await authority.stop();
    }
    await run(program, ['resume']);
    await run(program, ['verify', '--roots', server.roots, path]);
    expect(server.operations('sign').length).toBe(before + 1);
  });
});

it('installs from the Debian package, with its manual page, documents and completions', async () => {
  const tree = join(room.path, 'debian');
  await mkdir(tree);
  await start('dpkg-deb', ['--extract', artifact('.deb'), tree]);
  const help = await run(join(tree, 'usr/bin/codesign-remote'), ['--help']);
  expect(help.stdout).toContain(join(tree, 'usr/lib/codesign-remote/docs'));
  const manual = await start('gzip', ['-dc', join(tree, 'usr/share/man/man1/codesign-remote.1.gz')]);
  expect(manual.stdout).toContain('.TH');
  expect(await readFile(join(tree, 'usr/share/bash-completion/completions/codesign-remote'), 'utf8')).toContain(
    'complete -F',
  );
});

describe('the executable for Windows', () => {
  it.skipIf(GIVEN !== undefined)('is signed by the release', async () => {
    await start('osslsigncode', [
      'verify',
      '-CAfile',
      server.roots,
      '-TSA-CAfile',
      server.roots,
      artifact('-win-x64.exe'),
    ]);
  });

  it('can be signed with the program itself', async () => {
    const path = join(room.path, 'windows.exe');
    await copyFile(artifact('-win-x64.exe'), path);
    await run(artifact('-linux-x64'), ['sign', '--replace', path]);
    await start('osslsigncode', ['verify', '-CAfile', server.roots, '-TSA-CAfile', server.roots, path]);
  });

  it.skipIf(!process.env[PREFIX_VARIABLE])('signs and verifies under Wine', async () => {
    const path = await copyOf('pe/hello.exe', 'wine.exe');
    const variables = windowsVariables(env);
    const sign = await runWindowsProgram(artifact('-win-x64.exe'), ['sign', windowsPath(path)], { env: variables });
    expect(sign).toMatchObject({ code: 0, stdout: expect.stringContaining('signed') });
    await start('osslsigncode', ['verify', '-CAfile', server.roots, '-TSA-CAfile', server.roots, path]);
    const explain = await runWindowsProgram(artifact('-win-x64.exe'), ['explain', 'file-changed']);
    expect(explain.stdout).toContain('exit code  6');
  });
});
