/** Reads the count of signatures with a command of the operator, because the API does not return it. */

import { exec } from 'node:child_process';
import { promisify } from 'node:util';

/** The command failed, or printed no number. */
export class CountFailed extends Error {
  override readonly name = 'CountFailed';
}

const TIMEOUT = 60_000;

/** @param command for the shell; it prints one whole number */
export function countByCommand(command: string): () => Promise<number> {
  return async () => {
    const { stdout } = await promisify(exec)(command, { timeout: TIMEOUT }).catch((error: unknown) => {
      throw new CountFailed(`--count-command failed: ${error instanceof Error ? error.message : error}`);
    });
    const text = stdout.trim();
    if (!/^\d{1,15}$/.test(text))
      throw new CountFailed('--count-command must print one whole number, and nothing else');
    return Number(text);
  };
}
