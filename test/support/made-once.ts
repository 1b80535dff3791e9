/** Folders that take long to make: each is made once in a run of the tests. */

import { copyFileSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { access, chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lazy } from '../../src/bytes/reuse.ts';
import { SHARED_FOLDER_VARIABLE } from './shared-folder.ts';

/** RSA-4096 keys take their time on a busy machine. */
const PATIENCE = 180_000;

type Make = (folder: string) => Promise<void>;

/** Puts into `folder` what `make` puts into an empty one: files and folders. */
export async function copyOfMadeOnce(name: string, folder: string, make: Make): Promise<void> {
  copyTree(await madeOnce(name, make), folder);
}

/** Uses synchronous calls: for the data of a server, `cp` of Node.js takes seven times as long, and the program five times. */
function copyTree(from: string, to: string): void {
  mkdirSync(to, { recursive: true, mode: statSync(from).mode });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) copyTree(source, target);
    else copyFileSync(source, target);
  }
}

/** A benchmark has no folder of a run of the tests. Its own goes with its process, and other users may enter it, as PostgreSQL does. */
const ownFolder = lazy(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'codesign-once-'));
  await chmod(folder, 0o711);
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
});

/** @returns the folder, which must stay as it is */
export async function madeOnce(name: string, make: Make): Promise<string> {
  const path = join(process.env[SHARED_FOLDER_VARIABLE] ?? (await ownFolder()), name);
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

async function makeAside(path: string, make: Make): Promise<void> {
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
