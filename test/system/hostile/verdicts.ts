/** How a hostile file is held to its verdict. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { temporaryFolder } from '../../support/programs/cli.ts';
import { runMeasured } from '../../support/programs/measured-cli.ts';
import { type Bounds, expectBounded, expectSane } from './bounds.ts';
import type { HostileFile } from './cases.ts';

/** `extension`: with its dot. `trivial`: from `measureTrivial`. */
export async function expectVerdict(
  file: HostileFile,
  extension: string,
  trivial: number,
  bounds?: Bounds,
): Promise<void> {
  await using folder = await temporaryFolder('codesign-hostile-');
  const path = join(folder.path, `hostile${extension}`);
  await writeFile(path, file.make());
  const run = await runMeasured(['verify', '--json', path]);
  expectSane(run, [8]);
  expect(JSON.parse(run.stdout)).toMatchObject({ files: [{ verdict: file.verdict }] });
  if (file.code !== undefined) expect(run.stdout).toContain(`"code": "${file.code}"`);
  expectBounded(run, trivial, bounds);
}

/** For `it.each`. */
export function byName(files: readonly HostileFile[]) {
  return files.map((file) => [file.what, file] as const);
}
