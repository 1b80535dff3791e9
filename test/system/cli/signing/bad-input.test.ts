/** Files that the user cannot read or write are rejected before a request. */

import { chmod, copyFile, mkdir } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { fixture, parseJson, programForOthers, runCli, snapshot } from '../../../support/programs/cli.ts';
import { useServer } from '../../../support/services/shared-server.ts';
import { folderForEach, forAll } from '../../../support/set-up.ts';

/** A user without rights: no one on every Unix. */
const OTHER_USER = 65534;
const IS_ROOT = process.getuid?.() === 0;

const server = await forAll(useServer({ tsa: true }));
const folder = folderForEach();

it.each([
  ['a file that may not be read', 0o700, 0o755, []],
  ['a file that may not be written', 0o755, 0o777, []],
  ['a folder that may not be written', 0o777, 0o755, []],
  ['an output folder that may not be made', 0o755, 0o755, ['-o', 'new/app.exe']],
] as const)('rejects %s, as another user', async (_, fileMode, folderMode, args) => {
  await chmod(folder.path, 0o755);
  const env: Record<string, string> = { ...server.env, HOME: folder.path };
  for (const name of ['CODESIGN_CERTIFICATE', 'CODESIGN_CA_FILE'] as const) {
    await copyFile(server.env[name] ?? '', folder.at(name));
    await chmod(folder.at(name), 0o644);
    env[name] = folder.at(name);
  }
  const work = folder.at('work');
  await mkdir(work);
  await copyFile(fixture('pe/hello.exe'), folder.at('work', 'app.exe'));
  // Without root this user is the other one: the owner's bits are the ones that count, and become those of others.
  const isReadable = (fileMode & 4) !== 0;
  await chmod(folder.at('work', 'app.exe'), IS_ROOT ? fileMode : ((fileMode & 0o7) << 6) | (isReadable ? 0o444 : 0));
  await chmod(work, IS_ROOT ? folderMode : 0o500 | ((folderMode & 0o2) << 6));
  const before = await snapshot(work).catch(() => undefined);
  const other = { ...(await programForOthers()), ...(IS_ROOT ? { uid: OTHER_USER } : {}) };
  const run = await runCli(['sign', '--json', 'app.exe', ...args], { env, cwd: work, ...other });
  await chmod(work, 0o755);
  expect([run.code, parseJson(run).files[0]?.error?.code]).toEqual([
    6,
    IS_ROOT ? 'permission-denied' : expect.stringMatching(/^(permission-denied|read-only-file)$/),
  ]);
  if (before) expect(await snapshot(work)).toEqual(before);
});
