/** Data folders for test servers, made by the server itself, once for each key size in a run of the tests, and copied from then on. */

import { execFile } from 'node:child_process';
import { access, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { dataConfig } from '../../../server/src/config.ts';
import { makeData as makeServerData } from '../../../server/src/setup/make-data.ts';
import { operationAt } from '../../../server/test/support/operation.ts';
import { SHARED_FOLDER_VARIABLE } from '../shared-folder.ts';

/** The built server. */
export const SERVER_PROGRAM = fileURLToPath(new URL('../../../server/bin/codesign-remote-server.js', import.meta.url));

export type KeyBits = 2048 | 3072 | 4096;
/** The size of the key that the server's own first start makes. */
const FIRST_BITS: KeyBits = 3072;
/** The certificate that the server's own first start makes. */
const FIRST_NUMBER = '1';
/** RSA-4096 keys take their time on a busy machine. */
const PATIENCE = 180_000;

/** The number of the certificate with this key size in a folder made by `copyData`. */
export function numberFor(bits: KeyBits): string {
  return bits === FIRST_BITS ? FIRST_NUMBER : `rsa-${bits}`;
}

/** Runs one of the server's administration commands. @returns its standard output */
export async function runServerCommand(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [SERVER_PROGRAM, ...args]);
  return stdout;
}

/** Puts server data without any client into `folder`, which must be empty or missing, with a certificate of this key size. */
export async function copyData(folder: string, bits: KeyBits): Promise<void> {
  const shared = process.env[SHARED_FOLDER_VARIABLE];
  if (shared === undefined) return await makeData(folder, bits);
  await copyFolder(await template(shared, bits), folder);
}

/** By a program: `cp` of Node.js takes 45 ms of processor time for such a folder, and many tests begin with it. */
async function copyFolder(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  await promisify(execFile)('cp', ['-R', `${from}/.`, to]);
}

async function makeData(folder: string, bits: KeyBits): Promise<void> {
  if (bits === FIRST_BITS) {
    await makeServerData(dataConfig({ data: folder }, {}), process.env, operationAt(new Date()), 'create');
  } else
    await runServerCommand('certificate', 'add', '--data', folder, '--number', numberFor(bits), '--bits', `${bits}`);
}

async function template(shared: string, bits: KeyBits): Promise<string> {
  const path = join(shared, `server-data-${bits}`);
  const claim = `${path}.claim`;
  const deadline = Date.now() + PATIENCE;
  while (!(await exists(path))) {
    const ours = await mkdir(claim).then(
      () => true,
      () => false, // another process is at it
    );
    if (ours) await makeTemplate(shared, path, bits).finally(() => rm(claim, { recursive: true }));
    else if (Date.now() > deadline) throw new Error(`no process finished ${path}`);
    else await sleep(50);
  }
  return path;
}

async function makeTemplate(shared: string, path: string, bits: KeyBits): Promise<void> {
  if (await exists(path)) return;
  const aside = `${path}.aside`;
  if (bits !== FIRST_BITS) await copyFolder(await template(shared, FIRST_BITS), aside);
  await makeData(aside, bits);
  await rename(aside, path);
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
