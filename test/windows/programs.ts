import { copyFile, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { expect } from 'vitest';
import { fixture } from '../support/programs/cli.ts';
import { osslsigncodeVerify } from '../system/interop/verifiers.ts';

/** Copies an unsigned program to each of these paths. */
export async function copyProgram(...paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    await mkdir(dirname(path), { recursive: true });
    await copyFile(fixture('pe/hello.exe'), path);
  }
}

/** osslsigncode accepts each of them by these roots. */
export async function expectSigned(roots: string, ...paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const { accepted, output } = await osslsigncodeVerify(roots, path);
    expect(accepted, `${path}: ${output}`).toBe(true);
  }
}
