/** Data folders for test servers, made by the server itself, once for each key size in a run of the tests, and copied from then on. */

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readConfig } from '../../../server/src/config.ts';
import { makeData as makeServerData } from '../../../server/src/setup/make-data.ts';
import { adminCommand } from '../../../server/test/support/commands.ts';
import { operationAt } from '../../../server/test/support/operation.ts';
import { copyOfMadeOnce } from '../made-once.ts';

export const SERVER_PROGRAM = fileURLToPath(new URL('../../../server/bin/codesign-remote-server.js', import.meta.url));

export type KeyBits = 2048 | 3072 | 4096;
/** The size of the key that the server's own first start makes. */
const FIRST_BITS: KeyBits = 3072;
/** The certificate that the server's own first start makes. */
const FIRST_NUMBER = '1';

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
  await copyOfMadeOnce(`server-data-${bits}`, folder, async (made) => {
    if (bits === FIRST_BITS) {
      await makeServerData(readConfig({ data: made }, {}), process.env, operationAt(new Date()), 'create');
      return;
    }
    await copyData(made, FIRST_BITS);
    const add = ['certificate', 'add', '--data', made, '--number', numberFor(bits), '--bits', `${bits}`];
    const { code, errors } = await adminCommand(add);
    if (code !== 0) throw new Error(errors);
  });
}
