/** The throwaway PKI of the verifiers' programs: its many keys are made once in a run of the tests. */

import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { copyOfMadeOnce } from '../made-once.ts';

/** `verifiers`: the folder that has make-pki.sh. */
export async function copyOfVerifiersPki(verifiers: string, folder: string): Promise<void> {
  await copyOfMadeOnce('verifiers-pki', folder, async (made) => {
    await promisify(execFile)('bash', [join(verifiers, 'make-pki.sh'), made]);
  });
  const configuration = join(folder, 'tsa.cnf');
  const text = await readFile(configuration, 'utf8');
  await writeFile(configuration, text.replace(/^serial=.*$/m, `serial=${join(folder, 'tsaserial')}`));
}
