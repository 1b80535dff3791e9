/** Folders that take long to make: each is made once in a run of the tests, and copied from then on. */

import { execFile } from 'node:child_process';
import { access, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { SHARED_FOLDER_VARIABLE } from './shared-folder.ts';

/** RSA-4096 keys take their time on a busy machine. */
const PATIENCE = 180_000;

/** Puts into `folder` what `make` puts into an empty one. Outside a run of the tests, it is made each time. */
export async function copyOfMadeOnce(
  name: string,
  folder: string,
  make: (folder: string) => Promise<void>,
): Promise<void> {
  const shared = process.env[SHARED_FOLDER_VARIABLE];
  await mkdir(folder, { recursive: true });
  if (shared === undefined) return await make(folder);
  // By a program: `cp` of Node.js takes 45 ms of processor time for the data of a server, and many tests begin with it.
  await promisify(execFile)('cp', ['-a', `${await madeOnce(join(shared, name), make)}/.`, folder]);
}

async function madeOnce(path: string, make: (folder: string) => Promise<void>): Promise<string> {
  const claim = `${path}.claim`;
  const deadline = Date.now() + PATIENCE;
  while (!(await exists(path))) {
    const ours = await mkdir(claim).then(
      () => true,
      () => false, // another process is at it
    );
    if (ours) await makeAside(path, make).finally(() => rm(claim, { recursive: true }));
    else if (Date.now() > deadline) throw new Error(`no process finished ${path}`);
    else await sleep(50);
  }
  return path;
}

async function makeAside(path: string, make: (folder: string) => Promise<void>): Promise<void> {
  if (await exists(path)) return;
  const aside = `${path}.aside`;
  await mkdir(aside);
  await make(aside);
  await rename(aside, path);
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
