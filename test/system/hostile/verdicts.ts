/** How a hostile file is held to its verdict. */

import { expect } from 'vitest';
import { type Bounds, runBounded } from './bounds.ts';
import type { HostileFile } from './cases.ts';

export async function expectVerdict({ verdict, code }: HostileFile, path: string, bounds?: Bounds): Promise<void> {
  const { stdout } = await runBounded(['verify', '--json', path], [8], bounds);
  expect(JSON.parse(stdout)).toMatchObject({ files: [{ verdict }] });
  if (code !== undefined) expect(stdout).toContain(`"code": "${code}"`);
}

export function byName<Named extends { readonly what: string }>(files: readonly Named[]) {
  return files.map((file) => [file.what, file] as const);
}
