/** A planted leak fails the run that makes it, wherever it is: a watch that never barks is none. */

import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mustHoldNoCredentials, mustLeaveNoCredentials, watchCredentials } from './credential-watch.ts';
import { runCli, temporaryFolder } from './programs/cli.ts';
import { openRun, SHARED_FOLDER_VARIABLE } from './shared-folder.ts';

/** The test's own: the run that this test is in must not learn of them, for they are left about on purpose. */
const KEY = 'a-key-that-leaks';
const SECRET = 'a-s3cret-that-leaks';
const GIVEN = { CODESIGN_ACCESS_KEY: KEY, CODESIGN_ACCESS_SECRET: SECRET };
const LEAK = /credentials are where they must not be/;

const shared = process.env[SHARED_FOLDER_VARIABLE];
beforeEach(() => {
  delete process.env[SHARED_FOLDER_VARIABLE];
});
afterEach(() => {
  process.env[SHARED_FOLDER_VARIABLE] = shared;
});

const HEADER = "'Basic ' + Buffer.from(env.CODESIGN_ACCESS_KEY + ':' + env.CODESIGN_ACCESS_SECRET).toString('base64')";

async function program(folder: string, statement: string): Promise<string> {
  const path = join(folder, 'program.mjs');
  const imports = "import { writeFileSync, mkdirSync } from 'node:fs';\nimport { env } from 'node:process';\n";
  await writeFile(path, imports + statement);
  return path;
}

describe('a run that reveals its credentials fails', () => {
  it.each([
    ['on standard output', 'console.log(env.CODESIGN_ACCESS_SECRET)', /standard output: as it is/],
    [
      'in a file of its state folder',
      "mkdirSync(env.CODESIGN_STATE_DIR + '/a', { recursive: true }); writeFileSync(env.CODESIGN_STATE_DIR + '/a/b', Buffer.from('x' + env.CODESIGN_ACCESS_SECRET).toString('base64'))",
      /[/\\]a[/\\]b: in Base64 from 1/,
    ],
    ['on standard error', "console.error(Buffer.from(env.CODESIGN_ACCESS_SECRET).toString('hex'))", /: in hexadecimal/],
    ['next to a file that it was given', `writeFileSync(env.BESIDE + '.log', ${HEADER})`, /file\.log: in the Auth/],
    ['in the name of a file', "writeFileSync(env.BESIDE + env.CODESIGN_ACCESS_SECRET, '')", /the name .*: as it is/],
  ])('%s', async (_where, statement, told) => {
    const folder = await temporaryFolder();
    await mkdir(join(folder.path, 'work'));
    const env = { ...GIVEN, BESIDE: join(folder.path, 'file') };
    const options = { env, cwd: join(folder.path, 'work'), program: await program(folder.path, statement) };
    const running = runCli([], options);
    await expect(running).rejects.toThrow(LEAK);
    await expect(running).rejects.toThrow(told);
    await rm(folder.path, { recursive: true });
  });

  it('not if it is silent, and not because of what the server passes on', async () => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, 'client.env'), `CODESIGN_ACCESS_SECRET='${SECRET}'\n`);
    const path = await program(folder.path, 'console.log(env.CODESIGN_ACCESS_KEY)');
    const run = runCli([folder.path], { env: GIVEN, program: path });
    await expect(run).resolves.toMatchObject({ code: 0, stdout: `${KEY}\n` });
  });
});

it('a folder is searched again when a file in it has changed, and when there are more credentials to look for', async () => {
  const folder = await temporaryFolder();
  const path = join(folder.path, 'file');
  await writeFile(path, 'another-s3cret-that-leaks');
  await mustHoldNoCredentials({}, [folder.path]);
  watchCredentials({ accessKey: 'another', accessSecret: 'another-s3cret-that-leaks' });
  await expect(mustHoldNoCredentials({}, [folder.path])).rejects.toThrow(LEAK);
  await writeFile(path, 'a third text, which holds none');
  await mustHoldNoCredentials({}, [folder.path]);
  await writeFile(path, 'another-s3cret-that-leaks again');
  await expect(folder[Symbol.asyncDispose]()).rejects.toThrow(LEAK);
});

describe('a whole run', () => {
  it.each([
    ['with credentials in what a test has left', SECRET, LEAK],
    ['without any', 'nothing', undefined],
  ])('%s', async (_what, left, told) => {
    const exitCode = process.exitCode;
    const env: Record<string, string | undefined> = {};
    const close = await openRun(env);
    const folder = env[SHARED_FOLDER_VARIABLE] ?? '';
    // As a process of the run would have it.
    await mkdir(join(folder, 'credentials'));
    await writeFile(join(folder, 'credentials', '1'), JSON.stringify({ accessKey: KEY, accessSecret: SECRET }));
    await mkdir(join(env.TMPDIR ?? '', 'left'));
    await writeFile(join(env.TMPDIR ?? '', 'left', 'core'), `before ${left} after`);
    try {
      if (told === undefined) {
        await mustLeaveNoCredentials(folder);
        await close();
        expect(process.exitCode).toBe(exitCode);
      } else {
        await expect(close()).rejects.toThrow(told);
        expect(process.exitCode).toBe(1);
      }
    } finally {
      process.exitCode = exitCode;
    }
    expect(env).toEqual({ [SHARED_FOLDER_VARIABLE]: folder });
  });
});
