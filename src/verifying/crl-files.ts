/** The CRLs that a user names with --crl-file. */

import { readFileUpTo } from '../bytes/read-file-up-to.ts';
import type { Crl } from '../certificates/crl.ts';
import { readCrls } from '../certificates/read-crls.ts';
import { systemReason } from '../errors/system-reason.ts';
import { verifyingErrors } from './errors.ts';

/** The largest that are published have some 20 MB; PEM makes them a third longer. */
const MAX_FILE_LENGTH = 64 * 1024 * 1024;

/** Throws `crl-file-unreadable`, `crl-file-unusable`. */
export async function loadCrlFiles(paths: readonly string[]): Promise<readonly Crl[]> {
  const crls: Crl[] = [];
  for (const path of paths) {
    for (const crl of await loadCrlFile(path)) crls.push(crl);
  }
  return crls;
}

async function loadCrlFile(path: string): Promise<readonly Crl[]> {
  let bytes: Uint8Array;
  try {
    bytes = await readFileUpTo(path, MAX_FILE_LENGTH);
  } catch (cause) {
    throw verifyingErrors('crl-file-unreadable', { path, reason: systemReason(cause) }, { cause });
  }
  const crls = readCrls(bytes);
  if (typeof crls === 'string') throw verifyingErrors('crl-file-unusable', { path, problem: crls });
  return crls;
}
