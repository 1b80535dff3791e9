/**
 * Runs the blocks of the README and of docs/ that are not marked `not-run`: as they are written, except that addresses, numbers
 * and file names of the examples become those of a test server.
 */

import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { pathWithSqlite } from '../support/node-with-sqlite.ts';
import { CLI_PROGRAM, fixture, REPOSITORY, runCli, temporaryFolder } from '../support/programs/cli.ts';
import { startSecretService } from '../support/programs/secret-service.ts';
import { useServer } from '../support/services/shared-server.ts';
import { forAll } from '../support/set-up.ts';
import { packOnce } from '../system/package/pack.ts';
import { blocksIn, USER_PAGES } from './command-blocks.ts';

const run = promisify(execFile);
const BLOCKS = blocksIn(USER_PAGES);
/** The recorded sessions of init and login on a terminal answer these questions. */
const isInteractive = (text: string) => /^codesign-remote init\b/m.test(text);

const [server, folder, keyring] = await Promise.all([
  forAll(useServer({ tsa: true })),
  forAll(temporaryFolder('codesign-blocks-')),
  forAll(startSecretService()),
]);
const { tarball } = await packOnce();

describe('the shell block at', () => {
  const blocks = BLOCKS.filter(({ isRun, text }) => isRun && !isInteractive(text));
  it.each(blocks.map((block) => [`${block.page}:${block.line}`, block.text]))('%s runs', async (name, text) => {
    const cwd = await project(name);
    const env = { ...process.env, ...server.env, ...keyring.env, ...environment(cwd) };
    // Files with credentials must not outlive a test.
    const script = `trap 'rm -f secret.txt' EXIT; printf %s "$CODESIGN_ACCESS_SECRET" > secret.txt\n${withServer(text)}`;
    await run('bash', ['-e', '-c', script], { cwd, env });
  });
});

describe('the JavaScript block at', () => {
  const blocks = BLOCKS.filter(({ language, text }) => language === 'js' && text.startsWith('import '));
  it.each(blocks.map((block) => [`${block.page}:${block.line}`, block.text]))('%s runs', async (name, text) => {
    const cwd = await project(name);
    await writeFile(path.join(cwd, 'example.mjs'), text);
    const policy = { version: 1, defaults: { require: 'intact' }, minimum: {} };
    await writeFile(path.join(cwd, 'codesign-policy.json'), JSON.stringify(policy));
    const { stderr } = await run(process.execPath, ['example.mjs'], {
      cwd,
      env: { ...process.env, ...server.env, ...environment(cwd) },
    });
    expect(stderr).toBe('');
  });
});

/** A folder with the files that the examples name. */
async function project(name: string): Promise<string> {
  const cwd = path.join(folder.path, name.replace(/\W+/g, '-'));
  for (const inside of ['dist', 'tools', 'bin', 'node_modules'])
    await mkdir(path.join(cwd, inside), { recursive: true });
  for (const file of ['app.exe', 'old.exe', 'dist/app.exe', 'dist/tool.exe']) {
    await copyFile(fixture('pe/hello.exe'), path.join(cwd, file));
  }
  await copyFile(fixture('jar/plain.jar'), path.join(cwd, 'app.jar'));
  await copyFile(server.env.CODESIGN_CERTIFICATE ?? '', path.join(cwd, 'tools/chain.pem'));
  await copyFile(server.roots, path.join(cwd, 'root.pem'));
  await copyFile(tarball, path.join(cwd, 'tools', path.basename(tarball)));
  await writeFile(
    path.join(cwd, 'bin/codesign-remote'),
    `#!/bin/sh\nexec '${process.execPath}' '${CLI_PROGRAM}' "$@"\n`,
  );
  await chmod(path.join(cwd, 'bin/codesign-remote'), 0o755);
  await symlink(REPOSITORY, path.join(cwd, 'node_modules/codesign-remote'));
  const env = { ...server.env, ...environment(cwd) };
  const files = ['old.exe', 'app.jar'].map((file) => path.join(cwd, file));
  expect(await runCli(['sign', '--no-timestamp', ...files], { env, cwd })).toMatchObject({ code: 0 });
  return cwd;
}

function environment(cwd: string): Readonly<Record<string, string>> {
  return {
    PATH: `${path.join(cwd, 'bin')}:${pathWithSqlite()}`,
    CODESIGN_STATE_DIR: path.join(cwd, 'state'),
    CODESIGN_CONFIG_DIR: path.join(cwd, 'config'),
  };
}

/** Longer texts first. */
function withServer(text: string): string {
  const {
    CODESIGN_BASE_URL = '',
    CODESIGN_CODE = '',
    CODESIGN_TIMESTAMP_URL = '',
    CODESIGN_ACCESS_KEY = '',
  } = server.env;
  const values = {
    'https://alternate.example.com/signing': CODESIGN_BASE_URL,
    'https://codesign.example.com': CODESIGN_BASE_URL,
    'http://timestamp.example.com': CODESIGN_TIMESTAMP_URL,
    'your-access-key': CODESIGN_ACCESS_KEY,
    '12345': CODESIGN_CODE,
  };
  return Object.entries(values).reduce((script, [example, value]) => script.replaceAll(example, value), text);
}
